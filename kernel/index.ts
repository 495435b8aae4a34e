// The kernel's public API for plugins.
export { authenticate } from './auth/principal.js';
export type { Principal } from './auth/principal.js';
export { CSRF_COOKIE, newCsrfToken, requireCsrf } from './auth/csrf.js';
export { sameSecret, Sessions } from './auth/session.js';
export { SESSION_COOKIE, SessionCookies } from './auth/session-cookie.js';
export type { SessionOrigin, SessionsApi } from './auth/session.js';
export { command } from './command/command.js';
export type { Command, CommandInput } from './command/command.js';
export { Commands } from './command/list.js';
export type { CommandsApi, OwnedCommand } from './command/list.js';
export { annotate, type Annotation, inSection } from '../schema/annotation.js';
export { type Configured, variable } from '../schema/variable.js';
export type {
  Contributed,
  Contribution,
  ExtensionPoint,
  Maybe,
  Provision,
  Token,
} from './container/token.js';
export { contribute, extensionPoint, maybe, provide, token } from './container/token.js';
export type { ColumnTypes, SqlWords } from '../tables/dialect.js';
export type { Migration } from './database/migrate.js';
export type { Projection, ProjectionSource } from '../tables/projection.js';
export { Projections } from './database/database.js';
export type { Database } from './database/database.js';
export type { Tx } from './database/writer.js';
export {
  defineErrors,
  kernelErrors,
  messageOf,
  PanelError,
  Refusal,
  storageFailure,
} from './errors/errors.js';
export type { ErrorDetails, ErrorFactory } from './errors/errors.js';
export { refuseHidden, validate, validateInSlices } from './errors/invalid.js';
export { replaceFile, syncFolder } from '../file/replace.js';
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
export { Listeners } from './http/listeners.js';
export { RouteAdapters } from './http/table.js';
export type { Mounted, RouteAdapter } from './http/table.js';
export type { ListenerApi, ListenerPlace, ListenersApi, ServedRoute } from './http/listeners.js';
export { Answer, bare, message, payload, raw, withMessage, stream, unwrapped } from './http/reply.js';
export { Permits } from './http/permits.js';
export type { Permit } from './http/permits.js';
export { once, Replays } from './http/replays.js';
export { LARGE_BODY, LIST_BODY, route } from './http/route.js';
export type { RequestInfo, Route } from './http/route.js';
export { staticFiles } from './http/static-files.js';
export type { StaticFilesOptions } from './http/static-files.js';
export { Upgrades } from './http/upgrade.js';
export type { Upgrade, Upgraded } from './http/upgrade.js';
export type { Clock } from '../timing/clock.js';
export { job, Jobs } from './jobs/schedule.js';
export type { Job, JobResult, JobsApi, JobState } from './jobs/schedule.js';
export {
  afterKernelOpen,
  afterPluginStart,
  beforeKernelStop,
  composeStartupSummary,
  kernelReady,
} from './lifecycle.js';
export type { Log } from './log/log.js';
export { Plugins } from './plugin/plugins.js';
export type { PluginsApi, PluginState } from './plugin/plugins.js';
export { SettingsSource } from './plugin/settings.js';
export type { LiveSettings } from './plugin/settings.js';
export { definePlugin, singleton } from './plugin/define.js';
export type { Plugin, PluginContext } from './plugin/define.js';
export { sizeOf } from '../net/body.js';
export { LongList } from '../net/long-list.js';
export type { Streamed } from '../net/streamed-reply.js';
export type { UploadedFile } from '../net/multipart.js';
export { file, fileList } from '../net/upload-fields.js';
export type { FileField, FileOptions } from '../net/upload-fields.js';
export { canonicalAddress, hostName, hostOfHeader, ipv6Groups, isLoopback } from '../net/host-name.js';
export { holdsMoreThan } from '../schema/depth.js';
export { frozen } from '../schema/frozen.js';
export { JsonScan } from '../schema/json.js';
export { inspect, issuesAt, sentenceOf } from '../schema/inspect.js';
export type { Issue } from '../schema/inspect.js';
export { checkedList, jsonRecord, whyNotJson } from '../schema/plain.js';
export { type Setting, type SettingGroup, type SettingValues, setting } from '../schema/setting.js';
export type { Schema, Static, Typed } from '../schema/shape.js';
export {
  anything,
  bool,
  describedWith,
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
export { NetworkList, networkOf } from '../net/network-list.js';
export { Proxies } from '../net/proxies.js';
export { isSameOrigin } from '../net/same-origin.js';
export { didYouMean, suggest } from '../schema/suggest.js';
export { inspectInSlices } from '../schema/slices.js';
export { lenientInt, lenientText } from '../schema/lenient.js';
export { echoing, findUnknownKeys } from '../schema/unknown-keys.js';
export { TimeSlice } from '../schema/time-slice.js';
export { isTimeZone } from '../timing/calendar.js';
export type { CalendarTime } from '../timing/calendar.js';
export { KeyedQueue, SerialQueue } from '../timing/serial-queue.js';
export type { When } from '../timing/timetable.js';
export { field, Fields } from '../tables/fields.js';
export type { Field, FieldTable, Values } from '../tables/fields.js';
export { column, table } from '../tables/table.js';
export type { Column, Row, Table, TableModel, TableModels } from '../tables/table.js';
