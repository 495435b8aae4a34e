// The protobuf messages between the driver and the core, by field number.
// Accounts are in account-codecs.ts. Source: Xray-core 26.3.27, packages xray.core, xray.common.protocol, xray.common.serial, xray.app.proxyman.command,
// xray.app.stats.command, xray.core.app.observatory. Unused fields are left out.
import protobuf from 'protobufjs/light.js';

/** A message inside a message; `type` is the bare full name (a `type.googleapis.com/` prefix is rejected by the core). */
export interface TypedMessage {
  type: string;
  value: Uint8Array;
}

export interface Messages {
  'xray.common.serial.TypedMessage': TypedMessage;
  'xray.common.protocol.User': { level: number; email: string; account: TypedMessage | null };
  'xray.core.InboundHandlerConfig': {
    tag: string;
    receiverSettings: TypedMessage | null;
    proxySettings: TypedMessage | null;
  };
  'xray.app.proxyman.command.AddUserOperation': { user: Messages['xray.common.protocol.User'] };
  'xray.app.proxyman.command.RemoveUserOperation': { email: string };
  'xray.app.proxyman.command.AddInboundRequest': { inbound: Messages['xray.core.InboundHandlerConfig'] };
  'xray.app.proxyman.command.RemoveInboundRequest': { tag: string };
  'xray.app.proxyman.command.AlterInboundRequest': { tag: string; operation: TypedMessage };
  'xray.app.proxyman.command.ListInboundsRequest': { isOnlyTags: boolean };
  'xray.app.proxyman.command.GetInboundUserRequest': { tag: string; email: string };
  'xray.app.proxyman.command.GetInboundUsersCountResponse': { count: number };
  'xray.app.stats.command.QueryStatsRequest': { pattern: string; reset: boolean };
  'xray.app.stats.command.GetStatsRequest': { name: string; reset: boolean };
  'xray.app.stats.command.Stat': { name: string; value: number };
  'xray.app.stats.command.SysStatsResponse': {
    numGoroutine: number;
    numGC: number;
    alloc: number;
    sys: number;
    liveObjects: number;
    pauseTotalNs: number;
    uptime: number;
  };
  'xray.core.app.observatory.OutboundStatus': {
    alive: boolean;
    delay: number;
    lastErrorReason: string;
    outboundTag: string;
    lastSeenTime: number;
    lastTryTime: number;
  };
}

const typed = '.xray.common.serial.TypedMessage';

const fields: {
  readonly [K in keyof Messages]: {
    readonly [F in keyof Messages[K]]: readonly [number: number, type: string];
  };
} = {
  'xray.common.serial.TypedMessage': { type: [1, 'string'], value: [2, 'bytes'] },
  'xray.common.protocol.User': { level: [1, 'uint32'], email: [2, 'string'], account: [3, typed] },
  'xray.core.InboundHandlerConfig': {
    tag: [1, 'string'],
    receiverSettings: [2, typed],
    proxySettings: [3, typed],
  },
  'xray.app.proxyman.command.AddUserOperation': { user: [1, '.xray.common.protocol.User'] },
  'xray.app.proxyman.command.RemoveUserOperation': { email: [1, 'string'] },
  'xray.app.proxyman.command.AddInboundRequest': { inbound: [1, '.xray.core.InboundHandlerConfig'] },
  'xray.app.proxyman.command.RemoveInboundRequest': { tag: [1, 'string'] },
  'xray.app.proxyman.command.AlterInboundRequest': { tag: [1, 'string'], operation: [2, typed] },
  'xray.app.proxyman.command.ListInboundsRequest': { isOnlyTags: [1, 'bool'] },
  'xray.app.proxyman.command.GetInboundUserRequest': { tag: [1, 'string'], email: [2, 'string'] },
  'xray.app.proxyman.command.GetInboundUsersCountResponse': { count: [1, 'int64'] },
  'xray.app.stats.command.QueryStatsRequest': { pattern: [1, 'string'], reset: [2, 'bool'] },
  'xray.app.stats.command.GetStatsRequest': { name: [1, 'string'], reset: [2, 'bool'] },
  'xray.app.stats.command.Stat': { name: [1, 'string'], value: [2, 'int64'] },
  'xray.app.stats.command.SysStatsResponse': {
    numGoroutine: [1, 'uint32'],
    numGC: [2, 'uint32'],
    alloc: [3, 'uint64'],
    sys: [5, 'uint64'],
    liveObjects: [8, 'uint64'],
    pauseTotalNs: [9, 'uint64'],
    uptime: [10, 'uint32'],
  },
  'xray.core.app.observatory.OutboundStatus': {
    alive: [1, 'bool'],
    delay: [2, 'int64'],
    lastErrorReason: [3, 'string'],
    outboundTag: [4, 'string'],
    lastSeenTime: [5, 'int64'],
    lastTryTime: [6, 'int64'],
  },
};

function describe(): ReadonlyMap<string, protobuf.Type> {
  const root = new protobuf.Root();
  const types = new Map<string, protobuf.Type>();
  for (const [fullName, shape] of Object.entries(fields)) {
    const dot = fullName.lastIndexOf('.');
    const type = new protobuf.Type(fullName.slice(dot + 1));
    for (const [name, [number, kind]] of Object.entries(shape))
      type.add(new protobuf.Field(name, number, kind));
    root.define(fullName.slice(0, dot)).add(type);
    types.set(fullName, type);
  }
  root.resolveAll();
  return types;
}

const types = describe();

function typeOf(name: keyof Messages): protobuf.Type {
  const type = types.get(name);
  if (type === undefined) throw new Error(`no description of the message ${name}`);
  return type;
}

export function encode<K extends keyof Messages>(name: K, message: Messages[K]): Uint8Array {
  return typeOf(name).encode(message).finish();
}

/** Absent fields come as their proto3 default, absent messages as null, 64-bit numbers as numbers. */
export function decode<K extends keyof Messages>(name: K, bytes: Uint8Array): Messages[K] {
  const type = typeOf(name);
  return type.toObject(type.decode(bytes), { defaults: true, longs: Number }) as Messages[K];
}

export function wrap<K extends keyof Messages>(type: K, message: Messages[K]): TypedMessage {
  return { type, value: encode(type, message) };
}
