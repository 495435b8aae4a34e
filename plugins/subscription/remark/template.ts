// Compiles a remark template once per change of settings, so that a link's remark costs only a few string
// concatenations: parse → filter → render.
import { withoutTokens } from './filter.js';
import { UNLIMITED } from './format.js';
import { parseTemplate, type Segment, type Template } from './grammar.js';
import { TOKENS, type RemarkInput, type Token, type TokenGroup } from './tokens.js';

/** Returns the name of a link, unescaped. It is '' only when there is no inbound remark either. */
export interface RemarkTemplate {
  /** For the first link of a subscription: the whole template. */
  first(input: RemarkInput): string;
  /** For its other links: without the usage, and without the client's name unless a setting adds it. */
  later(input: RemarkInput): string;
  /** Whether `later` is the same for all clients. */
  readonly laterIsShared: boolean;
  /** For the panel and the subscription page, which show usage and protocol next to the link. */
  display(input: RemarkInput): string;
}

export interface RemarkOptions {
  /** Keep EMAIL and USERNAME in `later`. */
  readonly identityOnAllLinks: boolean;
}

type Render = (input: RemarkInput) => string;

/** A token with the literal in front of it. One shape for all, so that the loop below stays monomorphic. */
interface Piece {
  readonly before: string;
  /** `before` is a lone dash between two tokens: it is only shown between texts on both sides. */
  readonly joining: boolean;
  readonly read: Token['read'];
  readonly unbounded: boolean;
}

interface CompiledSegment {
  readonly pieces: readonly Piece[];
  /** The literal after the last token, or all of a segment without tokens. */
  readonly tail: string;
}

const UNKNOWN: Token = { read: () => '', shared: true };

/**
 * `template` is the text of the setting, e.g. `{{INBOUND}}-{{EMAIL}}|📊{{TRAFFIC_LEFT}}|⏳{{DAYS_LEFT}}D`; a blank one
 * means inbound remark, endpoint remark and email joined by `-` on every link. Never fails, see parseTemplate.
 */
export function compileRemark(
  template: string,
  options: RemarkOptions,
  otherwise: Render = ({ inboundRemark }) => inboundRemark,
): RemarkTemplate {
  if (template.trim() === '')
    return { first: joinRemarks, later: joinRemarks, laterIsShared: false, display: joinRemarks };
  const whole = parseTemplate(template);
  const spared = new Set<TokenGroup>(options.identityOnAllLinks ? ['usage'] : ['usage', 'identity']);
  const later = withoutTokens(whole, spared);
  return {
    first: renderer(whole, otherwise),
    later: renderer(later, otherwise),
    laterIsShared: later
      .flat()
      .every((part) => 'literal' in part || (TOKENS.get(part.token) ?? UNKNOWN).shared === true),
    display: renderer(withoutTokens(whole, new Set<TokenGroup>(['usage', 'route'])), otherwise),
  };
}

/** Compiles the remark of a host that holds tokens; the result is the value of `{{HOST}}`, blank where all tokens are. */
export const compileHostRemark = (template: string, options: RemarkOptions): RemarkTemplate =>
  compileRemark(template, options, () => '');

function joinRemarks({ inboundRemark, hostRemark, client }: RemarkInput): string {
  let joined = inboundRemark;
  if (hostRemark !== '') joined = joined === '' ? hostRemark : `${joined}-${hostRemark}`;
  if (client.email !== '') joined = joined === '' ? client.email : `${joined}-${client.email}`;
  return joined;
}

function renderer(template: Template, otherwise: Render): Render {
  const segments = template.map(compileSegment);
  return (input) => {
    let remark = '';
    let empty = true;
    for (const segment of segments) {
      const text = renderSegment(segment, input);
      if (text === undefined) continue;
      remark = empty ? text : `${remark}|${text}`;
      empty = false;
    }
    return remark.trim() === '' ? otherwise(input) : remark;
  };
}

function compileSegment(segment: Segment): CompiledSegment {
  const pieces: Piece[] = [];
  let literal = '';
  for (const part of segment) {
    if ('literal' in part) {
      literal = part.literal;
      continue;
    }
    const token = TOKENS.get(part.token) ?? UNKNOWN;
    const joining = pieces.length > 0 && literal.trim() === '-';
    pieces.push({ before: literal, joining, read: token.read, unbounded: token.unbounded === true });
    literal = '';
  }
  return { pieces, tail: literal };
}

/** `undefined` when the segment has tokens but all of them are empty. */
function renderSegment({ pieces, tail }: CompiledSegment, input: RemarkInput): string | undefined {
  if (pieces.length === 0) return tail;
  let text = '';
  let produced = false;
  let worthShowing = false;
  for (const piece of pieces) {
    const value = piece.read(input);
    if (!piece.joining || (produced && value !== '')) text += piece.before;
    if (value === '') continue;
    text += value;
    produced = true;
    if (!piece.unbounded || value !== UNLIMITED) worthShowing = true;
  }
  return worthShowing ? text + tail : undefined;
}
