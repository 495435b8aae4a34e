// A new node: its address and its token.
import { Link, useNavigate } from '@tanstack/react-router';
import { ChevronLeft } from 'lucide-react';
import { isolated } from '../format/names.js';
import { useReader } from '../language/context.js';
import { notify } from '../parts/notices.js';
import { NodeForm } from './node-form.js';
import { BLANK_NODE } from './wanted.js';
import './nodes.css';

export function NewNodePage() {
  const { say } = useReader();
  const navigate = useNavigate();
  const back = () => void navigate({ to: '/nodes' });
  return (
    <div className="page">
      <Link to="/nodes" className="back">
        <ChevronLeft size={16} aria-hidden className="mirrored" />
        {say('nodes.title')}
      </Link>
      <h1>{say('nodes.newTitle')}</h1>
      <NodeForm
        initial={BLANK_NODE}
        hasToken={false}
        done={(name) => {
          notify(say('nodes.added', { name: isolated(name) }));
          back();
        }}
        cancel={back}
      />
    </div>
  );
}
