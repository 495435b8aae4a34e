// Tunnels: outbounds through services elsewhere, and inbounds that programs of their own run.
import { useReader } from '../language/context.js';
import { ProgramsCard } from './programs-card.js';
import { ProviderCard } from './provider-card.js';
import { WarpCard } from './warp-card.js';

export function TunnelsPage() {
  const { say } = useReader();
  return (
    <section className="stack" aria-labelledby="tunnels">
      <h2 id="tunnels">{say('routing.tunnels')}</h2>
      <WarpCard />
      <ProviderCard />
      <ProgramsCard />
    </section>
  );
}
