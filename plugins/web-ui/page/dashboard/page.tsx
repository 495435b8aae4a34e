// The first page: is all well, who is online, what was moved.
import { useReader } from '../language/context.js';
import { StartOffer } from '../start/offer.js';
import { CorePanel } from './core.js';
import { NeedsList } from './needs-list.js';
import { Tiles } from './tiles.js';
import { TopClients } from './top-clients.js';
import { TrafficPlot } from './traffic.js';
import './dashboard.css';

export function DashboardPage() {
  const { say } = useReader();
  return (
    <div className="page dashboard">
      <h1 className="unseen">{say('nav.dashboard')}</h1>
      <StartOffer />
      <NeedsList />
      <Tiles />
      <div className="columns">
        <TrafficPlot />
        <div className="stack">
          <CorePanel />
          <TopClients />
        </div>
      </div>
    </div>
  );
}
