// Inbounds, recognised by machine, address, port and protocol.
import { messageOf } from '../../../kernel/index.js';
import { userOf } from '../../engine/contract.js';
import type { InboundEditsApi, InboundsApi } from '../../inbounds/contract.js';
import { inboundErrors, mayKeepDestinations } from '../../inbounds/contract.js';
import { type Context, isRefusal, NOT_MADE } from '../context.js';
import type { SourceRow } from '../source/known-tables.js';
import { countOf, fieldsOf, flagOf, jsonOf, textOf } from '../values.js';

const TABLE = 'inbounds';
/** Names of protocols in older versions. */
const OLD_NAMES: Readonly<Record<string, string>> = {
  socks: 'mixed',
  'dokodemo-door': 'tunnel',
  hysteria2: 'hysteria',
};
type AddInbound = Parameters<InboundEditsApi['add']>[0];

interface Tokens {
  readonly inbounds: InboundsApi;
  readonly edits: InboundEditsApi;
}

export async function importInbounds(context: Context, tokens: Tokens): Promise<void> {
  const { source, report, nodeIds } = context;
  for await (const row of source.rows(TABLE)) {
    context.signal.throwIfAborted();
    const name = textOf(row['remark']) || textOf(row['tag']);
    const theirNode = row['node_id'] ? Number(row['node_id']) : undefined;
    const place = theirNode === undefined ? null : nodeIds.get(theirNode);
    if (place === undefined) report.left(TABLE, 'its node is not here', name);
    else await importOne(context, tokens, row, name, place);
  }
}

/** Its logins, without those of clients of a panel like this one, which `weir export 3x-ui` took there. */
function ownLogins(settings: unknown): { readonly settings: unknown; readonly dropped: number } {
  const { accounts } = (settings ?? {}) as { readonly accounts?: unknown };
  if (!Array.isArray(accounts)) return { settings, dropped: 0 };
  const kept = (accounts as unknown[]).filter((account) => {
    const { user } = (account ?? {}) as { readonly user?: unknown };
    return typeof user !== 'string' || userOf(user) === undefined;
  });
  return {
    settings: { ...(settings as object), accounts: kept },
    dropped: accounts.length - kept.length,
  };
}

async function importOne(
  context: Context,
  { inbounds, edits }: Tokens,
  row: SourceRow,
  name: string,
  place: number | null,
): Promise<void> {
  const { report, inboundIds, dryRun, who } = context;
  const theirs = textOf(row['protocol']);
  const protocol = OLD_NAMES[theirs] ?? theirs;
  const tag = textOf(row['tag']);
  const listen = textOf(row['listen']);
  const known = inbounds
    .beside({ nodeId: place })
    .find(
      (one) =>
        one.listen === listen &&
        one.port === row['port'] &&
        one.protocol === protocol &&
        (one.port !== 0 || one.tag === tag),
    );
  if (known) {
    report.present(TABLE);
    inboundIds.set(Number(row['id']), known.id);
    return;
  }
  const { settings, dropped } = ownLogins(jsonOf(row['settings']) ?? {});
  const isTagTaken = tag !== '' && inbounds.list().some((one) => one.tag === tag);
  const inbound = {
    ...fieldsOf(row, ['remark', 'port', 'total', 'expiry_time', 'share_addr', 'share_addr_strategy']),
    ...fieldsOf(row, ['sub_sort_index', 'traffic_reset', 'traffic_reset_day']),
    protocol,
    listen,
    tag: isTagTaken ? '' : tag,
    enable: flagOf(row['enable']),
    disableFlow: flagOf(row['disable_flow']),
    settings,
    streamSettings: jsonOf(row['stream_settings']) ?? {},
    sniffing: jsonOf(row['sniffing']) ?? {},
    ...(place === NOT_MADE ? {} : { nodeId: place }),
  } as unknown as AddInbound;
  const used = { up: countOf(row['up']), down: countOf(row['down']) };
  const save = async (wanted: AddInbound): Promise<void> => {
    const options = { keepDestinations: mayKeepDestinations(who) };
    if (dryRun) await edits.check(wanted, who, options);
    const id = dryRun
      ? NOT_MADE
      : (
          await edits.add(wanted, who, {
            ...options,
            also: (tx, { id: inboundId }) => inbounds.addUsage(tx, [{ inboundId, ...used }]),
          })
        ).id;
    inboundIds.set(Number(row['id']), id);
  };
  try {
    await save(inbound).catch(async (error: unknown) => {
      if (!isRefusal(error) || error.code !== inboundErrors.PORT_IN_USE.code) throw error;
      await save({ ...inbound, enable: false });
      report.changed(
        TABLE,
        'disabled, as another program listens on its port: stop 3x-ui, then enable it',
        `${name}, port ${row['port']}`,
      );
    });
  } catch (error) {
    if (!isRefusal(error)) throw error;
    report.left(TABLE, messageOf(error), name);
    return;
  }
  report.taken(TABLE);
  if (isTagTaken) report.changed(TABLE, 'with another tag, as its own is taken here', `${name}, tag ${tag}`);
  if (dropped > 0)
    report.changed(
      TABLE,
      'without logins that a panel like this one gave to its clients: attach the clients',
      `${name}, ${dropped} logins`,
    );
  if (protocol !== theirs) report.changed(TABLE, `the protocol ${theirs} is called ${protocol} here`, name);
  if (dryRun) return;
  const here = inbounds.usage(inboundIds.get(Number(row['id'])) ?? 0);
  report.sum('bytes up of inbounds', used.up, here.up);
  report.sum('bytes down of inbounds', used.down, here.down);
}
