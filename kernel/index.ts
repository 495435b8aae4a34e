// The only door to the kernel for plugins.
export { authenticate, type Principal } from './auth/principal.js';
export { CSRF_COOKIE, isSameOrigin, newCsrfToken, requireCsrf } from './auth/csrf.js';
export {
  sameSecret,
  SESSION_COOKIE,
  type SessionOrigin,
  Sessions,
  type SessionsApi,
} from './auth/session.js';
export { command, type Command, type CommandInput } from './command/command.js';
export { Commands, type CommandsApi, type OwnedCommand } from './command/list.js';
export { type Configured, variable } from './config/variable.js';
export type {
  Contributed,
  Contribution,
  ExtensionPoint,
  Maybe,
  Provision,
  Token,
} from './container/token.js';
export { contribute, extensionPoint, maybe, provide, token } from './container/token.js';
export type { ColumnTypes, SqlWords } from './database/dialect.js';
export type { Migration } from './database/migrate.js';
export {
  column,
  type Column,
  type Row,
  table,
  type Table,
  type TableModel,
  type TableModels,
} from './database/table.js';
export type { Database, Tx } from './database/writer.js';
export {
  defineErrors,
  type ErrorDetails,
  type ErrorFactory,
  kernelErrors,
  messageOf,
  PanelError,
  Refusal,
} from './errors/errors.js';
export { refuseHidden, validate, validateInSlices } from './errors/invalid.js';
export { replaceFile } from './file/replace.js';
export type {
  Add,
  After,
  AnyHook,
  Choose,
  Draft,
  During,
  Event,
  Filter,
  Guard,
  Prepare,
  Tap,
  TapOptions,
} from './hooks/kinds.js';
export { after, choose, draft, during, event, filter, guard, prepare, stage, tap } from './hooks/kinds.js';
export type { Hooks, Stamped } from './hooks/registry.js';
export {
  type ListenerApi,
  type ListenerPlace,
  Listeners,
  type ListenersApi,
  type ServedRoute,
} from './http/listeners.js';
export { Answer, bare, message, payload, raw, said, stream, unwrapped } from './http/reply.js';
export { Replays } from './http/replays.js';
export {
  file,
  type FileField,
  fileList,
  type FileOptions,
  LARGE_BODY,
  LIST_BODY,
  type RequestInfo,
  type Route,
  route,
} from './http/route.js';
export { staticFiles, type StaticFilesOptions } from './http/static-files.js';
export { type Upgrade, type Upgraded, Upgrades } from './http/upgrade.js';
export type { Clock } from '../timing/clock.js';
export { type Job, job, type JobResult, Jobs, type JobsApi, type JobState } from './jobs/schedule.js';
export {
  afterKernelOpen,
  afterPluginStart,
  beforeKernelStop,
  composeReadyLine,
  kernelReady,
} from './lifecycle.js';
export type { Log } from './log/log.js';
export { Plugins, type PluginsApi, type PluginState } from './plugin/plugins.js';
export { frozen } from './plugin/frozen.js';
export { type LiveSettings, SettingsSource } from './plugin/settings.js';
export { definePlugin, type Plugin, type PluginContext, singleton } from './plugin/define.js';
export { sizeOf } from '../net/body.js';
export type { Streamed } from '../net/streamed.js';
export type { UploadedFile } from '../net/multipart.js';
export { canonicalAddress, hostName, hostOfHeader, ipv6Groups, isLoopback } from '../net/host-name.js';
export { holdsMoreThan } from '../schema/depth.js';
export { inspect, type Issue, issuesAt } from '../schema/inspect.js';
export { checkedList, jsonRecord, whyNotJson } from '../schema/plain.js';
export { setting, type Setting, type SettingGroup, type SettingValues } from '../schema/setting.js';
export type { Schema, Static, Typed } from '../schema/shape.js';
export {
  anything,
  bool,
  int,
  jsonObject,
  num,
  oneOf,
  openObject,
  port,
  text,
  urlPath,
  word,
} from '../schema/shape.js';
export { custom, describedAs, list, mapOf, nullable, optional, shape, withDefault } from '../schema/shape.js';
export { didYouMean, near } from '../schema/nearest.js';
export { inspectInSlices } from '../schema/slices.js';
export { TimeSlice } from '../schema/time-slice.js';
export { type CalendarTime, isTimeZone } from '../timing/calendar.js';
export { KeyedQueue, SerialQueue } from '../timing/serial-queue.js';
export type { When } from '../timing/timetable.js';
