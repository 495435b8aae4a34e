// One way to one inbound, compiled for every format.
import { kernelErrors, type PanelError } from '../../kernel/index.js';
import { type EntryTemplate, type Inbound, viewStream } from '../inbounds/contract.js';
import { type Place, placeFor } from './address.js';
import type { EntrySource, Format, Renderer, WriteEntry } from './contract.js';
import { isDocument } from './formats.js';
import { wordingOf } from './renderers.js';
import type { RemarkTemplate } from './remark/template.js';

export interface CompiledEntry {
  /** its name after the first link, where all clients share it; computed on first use */
  later?: { readonly remark: RemarkTemplate; readonly name: string };
  readonly source: EntrySource;
  readonly inboundId: number;
  readonly inboundRemark: string;
  readonly hostRemark: string;
  readonly protocol: string;
  readonly network: string;
  readonly security: string;
  /** the panel shows it, a fetch does not */
  readonly hidden: boolean;
  /** entries of an inbound with the same text are shuffled; empty: it stays where it is */
  readonly shuffle: string;
  readonly place: (requestHost: string) => Place;
  /** undefined when the plugin of its protocol failed */
  readonly template: EntryTemplate | undefined;
  /** by name of the format; of lists */
  readonly writers: Readonly<Record<string, WriteEntry | undefined>>;
  /** by name of the format; of documents */
  readonly parts: Readonly<Record<string, Part | undefined>>;
  /** by name of the format: why it leaves the entry out */
  readonly leftOut: Readonly<Record<string, string | undefined>>;
}
/** How an entry is written into a document. */
export interface Part {
  readonly renderer?: Renderer;
  readonly failed?: PanelError;
}

const offOf = (error: unknown): PanelError => kernelErrors.PLUGIN_OFF(undefined, { cause: error });

export function compileEntry(
  {
    inbound,
    entry,
    hostRemark,
    hidden = false,
    shuffle = '',
  }: {
    readonly inbound: Inbound;
    readonly entry: EntryTemplate | undefined;
    readonly hostRemark: string;
    readonly hidden?: boolean | undefined;
    readonly shuffle?: string | undefined;
  },
  formats: readonly Format[],
  renderers: readonly Renderer[],
): CompiledEntry {
  const writers: Record<string, WriteEntry> = {};
  const parts: Record<string, Part> = {};
  const leftOut: Record<string, string> = {};
  for (const format of formats) {
    const { name } = format;
    try {
      if (!entry) throw kernelErrors.PLUGIN_OFF(`the protocol ${inbound.protocol} failed; the log says why`);
      const wording = wordingOf(format, entry, renderers);
      if (wording.by === 'nobody') leftOut[name] = wording.reason;
      else if (isDocument(format))
        parts[name] = wording.by === 'renderer' ? { renderer: wording.renderer } : {};
      else {
        const { compile } = wording.by === 'renderer' ? (wording.renderer as Required<Renderer>) : format;
        writers[name] = compile(entry);
      }
    } catch (error) {
      // Its fault is already recorded. The fetch fails too, because a list without the entry would make programs delete it.
      if (isDocument(format)) parts[name] = { failed: offOf(error) };
      else
        writers[name] = () => {
          throw offOf(error);
        };
    }
  }
  const { network, security } = viewStream(inbound.streamSettings);
  return {
    source: { inboundId: inbound.id, template: entry },
    inboundId: inbound.id,
    inboundRemark: inbound.remark,
    hostRemark,
    hidden,
    shuffle: shuffle && `${inbound.id} ${shuffle}`,
    protocol: inbound.protocol,
    network,
    // A way may have another one than its inbound.
    security: entry?.security.kind ?? security,
    place: placeFor(entry ?? { server: '', port: inbound.port }),
    template: entry,
    writers,
    parts,
    leftOut,
  };
}
