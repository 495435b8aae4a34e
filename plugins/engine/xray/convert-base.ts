// `xray convert` converts outbounds and rules to the bytes that the core's API takes.
import { readFile } from 'node:fs/promises';
import { CoreRefused, type JsonObject } from '../driver.js';
import { runCommand } from './command.js';
import type { Needs } from './convert.js';
import { eachMessage } from './each-message.js';
import { ROUTER_CONFIG, type RouterConfig, textIn } from './routing-api.js';

/** Fields of `xray.core.Config` (core/config.proto), of a TypedMessage, and of `xray.app.router.Config`. */
const OUTBOUND = 2;
const APP = 4;
const TYPED_VALUE = 2;
const RULE = 2;
const BALANCER = 3;

export interface BaseJson {
  readonly outbounds: readonly JsonObject[];
  readonly rules: readonly JsonObject[];
  readonly balancers: readonly JsonObject[];
}
export interface ConvertedBase extends RouterConfig {
  /** by tag */
  readonly outbounds: ReadonlyMap<string, Uint8Array>;
}

/** Rejects with CoreRefused. */
export async function convertBase(
  { binary, folder }: Pick<Needs, 'binary' | 'folder'>,
  { outbounds, rules, balancers }: BaseJson,
): Promise<ConvertedBase> {
  const found = { outbounds: new Map<string, Uint8Array>(), rules: [], balancers: [] } as {
    outbounds: Map<string, Uint8Array>;
    rules: Uint8Array[];
    balancers: Uint8Array[];
  };
  if (outbounds.length + rules.length + balancers.length === 0) return found;
  await folder.withTemporary(['.json', '.pb'], async (source = '', target = '') => {
    // the converter keeps the mode of an existing file; the result may contain keys
    await folder.write(target, []);
    await folder.write(source, [JSON.stringify({ outbounds, routing: { rules, balancers } })]);
    await runCommand({
      binary,
      directory: folder.path,
      args: ['convert', 'pb', '-outpbfile', target, source],
      timeout: 20_000,
    });
    const bytes = await readFile(target);
    await eachMessage(bytes, OUTBOUND, (outbound) => found.outbounds.set(textIn(outbound, 1), outbound));
    let router: Uint8Array = new Uint8Array();
    await eachMessage(bytes, APP, (app) => {
      if (textIn(app, 1) === ROUTER_CONFIG) router = app;
    });
    await eachMessage(router, TYPED_VALUE, (config) => (router = config));
    await eachMessage(router, RULE, (rule) => found.rules.push(rule));
    await eachMessage(router, BALANCER, (balancer) => found.balancers.push(balancer));
  });
  for (const { tag } of outbounds)
    if (!found.outbounds.has(String(tag)))
      throw new CoreRefused(`outbound ${String(tag)}: the core's converter made no outbound of it`);
  if (found.rules.length !== rules.length || found.balancers.length !== balancers.length)
    throw new CoreRefused("the core's converter made another number of rules or balancers than there are");
  return found;
}
