// What is wrong with a node although it answers: another panel than it should be, a clock that differs, a loop.
import type { NodeState } from './node-state.js';

export interface NodeProblem {
  readonly code: 'self' | 'shared' | 'other' | 'noGuid' | 'clock' | 'loop';
  readonly message: string;
}
/** Certificates, tokens and expiry dates are compared by clocks. */
const MOST_OFFSET_S = 60;

export interface Others {
  readonly ownGuid: string;
  /** names of the other nodes that answer with this guid */
  readonly sameGuid: (guid: string, id: number) => readonly string[];
  readonly hasLoop: (id: number) => boolean;
}

export function problemsOf(
  id: number,
  state: NodeState,
  { ownGuid, sameGuid, hasLoop }: Others,
): NodeProblem[] {
  const { guid, answeredGuid, clockOffset, status } = state;
  const problems: NodeProblem[] = [];
  const add = (code: NodeProblem['code'], message: string) => problems.push({ code, message });
  if (answeredGuid === '') {
    if (status === 'online')
      add('noGuid', 'the panel there has no guid; its version is too old to be a node');
    return problems;
  }
  const others = sameGuid(answeredGuid, id);
  if (answeredGuid === ownGuid)
    add('self', 'the panel there has the guid of this one: it is this panel, or a copy of its database');
  else if (others.length > 0)
    add(
      'shared',
      `the panel there has the guid of ${others.slice(0, 5).join(', ')}: it is the same one, or a copy`,
    );
  if (guid !== answeredGuid && answeredGuid !== ownGuid)
    add(
      'other',
      `another panel answers there: ${answeredGuid} instead of ${guid}; if that is meant, accept it`,
    );
  if (Math.abs(clockOffset) > MOST_OFFSET_S)
    add(
      'clock',
      `its clock is ${Math.abs(clockOffset)} s ${clockOffset > 0 ? 'ahead' : 'behind'}; set the clocks`,
    );
  if (hasLoop(id)) add('loop', 'this panel is among the nodes below it; entries that lead back are left out');
  return problems;
}

/** Problems in which nobody knows which panel a change would reach. */
export const isAboutIdentity = ({ code }: NodeProblem): boolean =>
  code === 'self' || code === 'shared' || code === 'other' || code === 'noGuid';
