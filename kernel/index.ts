// The kernel's public API for plugins.
export { authenticate, type Principal } from './auth/principal.js';
export { CSRF_COOKIE, newCsrfToken, requireCsrf } from './auth/csrf.js';
export { sameSecret, type SessionOrigin, Sessions, type SessionsApi } from './auth/session.js';
export { SESSION_COOKIE, SessionCookies } from './auth/session-cookie.js';
export { type Command, command, type CommandInput } from './command/command.js';
export { Commands, type CommandsApi, type OwnedCommand } from './command/list.js';
export { annotate, type Annotation, inSection } from '../schema/annotation.js';
export { type Configured, variable } from '../schema/variable.js';
export type { Contributed, Contribution, ExtensionPoint } from './container/token.js';
export type { Maybe, Provision, Token } from './container/token.js';
export { contribute, extensionPoint, maybe, provide, token } from './container/token.js';
export type { ColumnTypes, SqlWords } from '../tables/dialect.js';
export type { Migration } from './database/migrate.js';
export type { Projection, ProjectionSource } from '../tables/projection.js';
export { Cluster, type Committed } from './database/cluster.js';
export { type Database, Projections } from './database/database.js';
export type { Tx } from './database/tx.js';
export { defineErrors, type ErrorDetails, type ErrorFactory, kernelErrors } from './errors/errors.js';
export { messageOf, PanelError, Refusal, storageFailure } from './errors/errors.js';
export { refuseHidden, validate, validateInSlices } from './errors/invalid.js';
export { replaceFile, syncFolder } from '../file/replace.js';
export type { Add, After, AnyHook, Choose, Draft, During, Event } from './hooks/kinds.js';
export type { Filter, Guard, Prepare, Tap, TapOptions } from './hooks/kinds.js';
export { after, choose, draft, during, event, filter, guard, prepare, stage, tap } from './hooks/kinds.js';
export type { Hooks, Stamped } from './hooks/registry.js';
export { Listeners } from './http/listeners.js';
export { type Mounted, type RouteAdapter, RouteAdapters } from './http/table.js';
export type { ListenerApi, ListenerPlace, ListenersApi, ServedRoute } from './http/listeners.js';
export { Answer, bare, message, payload, raw, withMessage, stream, unwrapped } from './http/reply.js';
export { type Permit, Permits } from './http/permits.js';
export { once, Replays } from './http/replays.js';
export { LARGE_BODY, LIST_BODY, type RequestInfo, type Route, route } from './http/route.js';
export { staticFiles, type StaticFilesOptions } from './http/static-files.js';
export { type Upgrade, type Upgraded, Upgrades } from './http/upgrade.js';
export { type Clock, systemClock } from '../timing/clock.js';
export { everywhere, type Job, job, type JobResult } from './jobs/schedule.js';
export { Jobs, type JobsApi, type JobState } from './jobs/schedule.js';
export { afterKernelLead, afterKernelOpen, afterPluginStart, beforeKernelStop } from './lifecycle.js';
export { composeStartupSummary, kernelReady } from './lifecycle.js';
export type { Log } from './log/log.js';
export { Plugins, type PluginsApi, type PluginState } from './plugin/plugins.js';
export { type LiveSettings, SettingsSource } from './plugin/settings.js';
export { definePlugin, type Plugin, type PluginContext, singleton } from './plugin/define.js';
export { sizeOf } from '../net/body.js';
export { LongList } from '../net/long-list.js';
export type { Streamed } from '../net/streamed-reply.js';
export type { UploadedFile } from '../net/multipart.js';
export { file, type FileField, fileList, type FileOptions } from '../net/upload-fields.js';
export { canonicalAddress, hostName, hostOfHeader, ipv6Groups, isLoopback } from '../net/host-name.js';
export { holdsMoreThan } from '../schema/depth.js';
export { frozen } from '../schema/frozen.js';
export { JsonScan } from '../schema/json.js';
export { inspect, type Issue, issuesAt, sentenceOf } from '../schema/inspect.js';
export { checkedList, jsonRecord, whyNotJson } from '../schema/plain.js';
export { type Setting, type SettingGroup, type SettingValues, setting } from '../schema/setting.js';
export { anything, bool, custom, describedAs, describedWith, int, jsonObject } from '../schema/shape.js';
export {
  list,
  mapOf,
  nullable,
  num,
  oneOf,
  openObject,
  optional,
  port,
  type Schema,
} from '../schema/shape.js';
export { shape, type Static, text, type Typed, urlPath, withDefault, word } from '../schema/shape.js';
export { NetworkList, networkOf } from '../net/network-list.js';
export { Proxies } from '../net/proxies.js';
export { isSameOrigin } from '../net/same-origin.js';
export { didYouMean, suggest } from '../schema/suggest.js';
export { inspectInSlices } from '../schema/slices.js';
export { lenientInt, lenientText } from '../schema/lenient.js';
export { echoing, findUnknownKeys } from '../schema/unknown-keys.js';
export { TimeSlice } from '../schema/time-slice.js';
export { type CalendarTime, isTimeZone } from '../timing/calendar.js';
export { KeyedQueue, SerialQueue } from '../timing/serial-queue.js';
export type { When } from '../timing/timetable.js';
export { type Field, field, Fields, type FieldTable, type Values } from '../tables/fields.js';
export { type Column, column, type Row, type Table, table } from '../tables/table.js';
export type { TableModel, TableModels } from '../tables/table.js';
