// Settings that have a place here, and the template of the core.
import { kernelErrors, messageOf, PanelError, validate, jsonObject } from '../../../kernel/index.js';
import { withOurNames } from '../../compat-3xui/contract.js';
import type { CoreTemplateApi } from '../../core-template/contract.js';
import type { SettingsCaller, SettingsEditsApi } from '../../settings/contract.js';
import { type Context, isRefusal, take } from '../context.js';
import { textOf } from '../values.js';

const TABLE = 'settings';
const TEMPLATE = 'xrayTemplateConfig';
const MOST = 1_000;

const HOST = 'it belongs to the machine: the one of this panel stays';
const IDENTITY = 'it identifies the other panel';
const ONE_AT_A_TIME = 'the old panel may still use it: turn it on when that one is off';
const SERVICE = 'set it up here again: its keys have another form';
/** Names there, and why they stay behind. */
const STAYS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    [
      ...['webListen', 'webDomain', 'webPort', 'webCertFile', 'webKeyFile', 'webBasePath'],
      ...['subListen', 'subPort', 'subCertFile', 'subKeyFile'],
    ].map((name) => [name, HOST]),
  ),
  ...Object.fromEntries(
    [
      ...[
        'secret',
        'panelGuid',
        'apiToken',
        'nodeMtlsCaCertPem',
        'nodeMtlsCaKeyPem',
        'nodeMtlsClientCertPem',
      ],
      ...['nodeMtlsClientKeyPem', 'nodeMtlsClientCertSha256', 'nodeMtlsClientCAPem'],
    ].map((name) => [name, IDENTITY]),
  ),
  warp: SERVICE,
  nord: SERVICE,
  pia: SERVICE,
  twoFactorEnable: 'turn it on here: that needs a code of your authenticator',
  twoFactorToken: 'turn it on here: that needs a code of your authenticator',
};
/** Switches of what only one panel can do. */
const ONE_PANEL = ['tgBotEnable', 'discordBotEnable'];

/** A text in the type of the setting here. */
function typed(text: string, inForce: unknown): unknown {
  if (typeof inForce === 'boolean') return text === 'true' ? true : text === 'false' ? false : text;
  if (typeof inForce === 'number') return /^-?\d{1,15}$/.test(text) ? Number(text) : text;
  if (Array.isArray(inForce))
    return text
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== '');
  return text;
}

export async function importSettings(
  context: Context,
  edits: SettingsEditsApi,
  template: CoreTemplateApi | undefined,
): Promise<void> {
  const { source, report, who } = context;
  const rows = new Map<string, string>();
  for await (const row of source.rows(TABLE)) {
    const key = textOf(row['key']);
    const value = row['value'] === null ? '' : String(row['value']);
    if (rows.has(key) || key === '') report.left(TABLE, 'another row has this key', key);
    else if (rows.size >= MOST) report.left(TABLE, `only the first ${MOST} are read`);
    else if (key === TEMPLATE) await importTemplate(context, template, value);
    else if (STAYS[key] !== undefined) report.left(TABLE, STAYS[key], key);
    else if (value === '') report.left(TABLE, 'it is blank', key);
    else if (ONE_PANEL.includes(key) && value === 'true') report.left(TABLE, ONE_AT_A_TIME, key);
    else rows.set(key, value);
  }
  const theirNames = new Map<string, string>();
  const wanted: Record<string, unknown> = {};
  for (const [key, text] of rows) {
    const [[name = key, value = text] = []] = Object.entries(withOurNames({ [key]: text }));
    const known = edits.known(name);
    if (!known) report.left(TABLE, 'this panel has no such setting', key);
    else if (known.variable !== undefined)
      report.left(TABLE, `${known.variable} sets it in the environment`, key);
    else {
      const own = typeof value === 'string' ? typed(value, known.value) : value;
      if (JSON.stringify(own) === JSON.stringify(known.value)) report.present(TABLE);
      else {
        wanted[name] = own;
        theirNames.set(name, key);
      }
    }
  }
  // Of a command, no address is known.
  await save(context, edits, { wanted, theirNames }, { ...who, ip: '', hosts: [] });
}

/** All at once, without those that are refused. */
async function save(
  context: Context,
  edits: SettingsEditsApi,
  { wanted, theirNames }: { wanted: Record<string, unknown>; theirNames: ReadonlyMap<string, string> },
  who: SettingsCaller,
): Promise<void> {
  const { report, dryRun } = context;
  const left = { ...wanted };
  while (Object.keys(left).length > 0) {
    try {
      if (dryRun) await edits.plan(left, who);
      else await edits.update(left, who);
      break;
    } catch (error) {
      if (!isRefusal(error)) throw error;
      const culprits = error.issues
        .map(({ path }) => path.split('.', 1)[0] ?? '')
        .filter((name) => name in left);
      // A rule across settings names none: then they stay behind together.
      for (const name of culprits.length > 0 ? new Set(culprits) : Object.keys(left)) {
        report.left(TABLE, messageOf(error), theirNames.get(name) ?? name);
        delete left[name];
      }
    }
  }
  report.taken(TABLE, Object.keys(left).length);
  for (const name of Object.keys(left))
    if (theirNames.get(name) !== name) report.changed(TABLE, 'under the name of this panel', name);
}

async function importTemplate(
  context: Context,
  template: CoreTemplateApi | undefined,
  text: string,
): Promise<void> {
  const { report, dryRun, who } = context;
  const name = 'the template of the core';
  if (!template) return report.left(TABLE, 'this panel runs without the plugin core-template', name);
  if (text.trim() === '') return report.left(TABLE, 'it is blank', name);
  await take(context, { table: TABLE, name }, async () => {
    const sent = validate(jsonObject(), text) as ReturnType<CoreTemplateApi['read']>;
    if (JSON.stringify(sent) === JSON.stringify(template.read())) return;
    if (!template.isDefault())
      throw kernelErrors.INVALID('this panel has a template of its own, which stays; compare them by hand');
    if (dryRun) return;
    try {
      report.changed(TABLE, (await template.change(() => sent, who, 'of 3x-ui')) || 'in force', name);
    } catch (error) {
      // A core that is missing, or does not run with it, is no reason to end the import.
      if (error instanceof PanelError) throw kernelErrors.INVALID(error.message, { cause: error });
      throw error;
    }
  });
}
