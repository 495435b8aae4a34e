// Puts clients together: their row, what they used, where they are attached, their devices and links.
import type { FileReader } from './file-reader.js';
import type { ClientTable, Entry, SourceClient, SourceRow } from './known-tables.js';

const CLIENTS_AT_ONCE = 250;
/** Rows of a side table for one page: a client has one for each inbound or device. */
const MOST_OF_PAGE = 50_000;

interface Person extends Readonly<Record<string, string | number | null>> {
  readonly at: number;
  readonly person: string;
}

/** Columns of the table `clients`, and what the list of an inbound calls them. */
const NAMES: Readonly<Record<string, string>> = {
  email: 'email',
  sub_id: 'subId',
  uuid: 'id',
  password: 'password',
  auth: 'auth',
  flow: 'flow',
  security: 'security',
  limit_ip: 'limitIp',
  total_gb: 'totalGB',
  expiry_time: 'expiryTime',
  enable: 'enable',
  tg_id: 'tgId',
  group_name: 'group',
  comment: 'comment',
  reset: 'reset',
  created_at: 'created_at',
  updated_at: 'updated_at',
};

function parsed(text: string): Entry {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Entry) : {};
  } catch {
    return {};
  }
}

/** The row of a client of a version without the table `clients`. */
function rowOf(entry: Entry): SourceRow {
  return Object.fromEntries(
    Object.entries(NAMES).map(([column, name]) => {
      const value = entry[name];
      return [
        column,
        typeof value === 'string' || typeof value === 'number'
          ? value
          : typeof value === 'boolean'
            ? Number(value)
            : null,
      ];
    }),
  );
}

/** Lists by key. */
function grouped<R extends SourceRow>(rows: readonly R[], key: string): Map<string | number | null, R[]> {
  const groups = new Map<string | number | null, R[]>();
  if (rows.length > MOST_OF_PAGE)
    throw new Error(`a few clients have more than ${MOST_OF_PAGE} rows in one of its tables`);
  for (const row of rows) {
    const group = groups.get(row[key] ?? null);
    if (group) group.push(row);
    else groups.set(row[key] ?? null, [row]);
  }
  return groups;
}

export async function clientPage(
  reader: FileReader,
  after: number,
): Promise<{ clients: SourceClient[]; next: number | undefined }> {
  const { file } = reader;
  const isOlder = !reader.has('clients');
  const people = await file.rows<Person>(
    isOlder
      ? 'SELECT id AS at, person FROM people WHERE id > ? ORDER BY id LIMIT ?'
      : `SELECT c.rowid AS at, lower(trim(email)) AS person, ${reader.clientColumns()} FROM clients c WHERE typeof(email) = 'text' AND c.rowid > ? ORDER BY c.rowid LIMIT ?`,
    [after, CLIENTS_AT_ONCE],
  );
  const keys = JSON.stringify(people.map(({ person }) => person));
  const among = 'IN (SELECT value FROM json_each(?))';
  const entries = grouped(
    await file.rows<{ person: string; inbound_id: number; entry: string }>(
      `SELECT person, inbound_id, entry FROM embedded WHERE person ${among} ORDER BY rowid LIMIT ${MOST_OF_PAGE + 1}`,
      [keys],
    ),
    'person',
  );
  const traffics = grouped(
    await file.rows<SourceRow>(`SELECT * FROM traffics WHERE person ${among} LIMIT ${MOST_OF_PAGE + 1}`, [
      keys,
    ]),
    'person',
  );
  const own = async (table: ClientTable, key: string, values: readonly unknown[], order: string) =>
    grouped(
      reader.hasCopy(table, key)
        ? await file.rows<SourceRow>(
            `SELECT * FROM own_${table} WHERE ${key} ${among} ORDER BY ${order} LIMIT ${MOST_OF_PAGE + 1}`,
            [JSON.stringify(values)],
          )
        : [],
      key,
    );
  const rows = people.map((person) =>
    isOlder ? rowOf(parsed(entries.get(person.person)?.[0]?.entry ?? '{}')) : person,
  );
  const ids = people.map(({ id }) => id ?? null);
  const attached = await own('client_inbounds', 'client_id', ids, 'inbound_id');
  const links = await own('client_external_links', 'client_id', ids, 'rowid');
  const devices = await own(
    'client_hwids',
    'sub_id',
    rows.map(({ sub_id: subId }) => subId ?? null),
    'rowid',
  );
  const clients = people.map(({ person, id }, i): SourceClient => {
    const row = rows[i] as SourceRow;
    const inside = new Map(
      (entries.get(person) ?? []).map(({ inbound_id: inboundId, entry }) => [inboundId, parsed(entry)]),
    );
    const attachments = isOlder
      ? [...inside].map(([inboundId, entry]) => ({ inboundId, entry }))
      : (attached.get(id ?? null) ?? []).map(({ inbound_id: inboundId, flow_override: flow }) => ({
          inboundId: Number(inboundId),
          // The core of 3x-ui gets the flow of the attachment.
          entry: { ...inside.get(Number(inboundId)), ...(typeof flow === 'string' && { flow }) },
        }));
    return {
      email: String(row['email'] ?? person),
      row,
      traffic: traffics.get(person)?.[0],
      attachments,
      devices: row['sub_id'] ? (devices.get(row['sub_id']) ?? []) : [],
      links: links.get(id ?? null) ?? [],
    };
  });
  return { clients, next: people.length < CLIENTS_AT_ONCE ? undefined : people.at(-1)?.at };
}
