import { bool, setting, text, urlPath } from '../../kernel/index.js';
import { randomPath } from '../subscription/contract.js';
import { readDns } from './texts/dns.js';
import { checkedText } from './texts/json-text.js';
import { readMasks } from './texts/masks.js';
import { readMux } from './texts/mux.js';
import { readObservatory } from './texts/observatory.js';
import { readProfile } from './texts/profile.js';
import { readRules } from './texts/rules.js';

const publicUrl = () =>
  text()
    .max(1024)
    .custom((value: string, state) => {
      const url = URL.canParse(value) ? new URL(value) : undefined;
      return value === '' ||
        (url && /^https?:$/.test(url.protocol) && !url.search && !url.hash && !url.username)
        ? value
        : state.error('any.custom', {
            error: new Error(
              'it must be an http or https URL without query, fragment and user, like https://sub.example.com/json/',
            ),
          });
    });

export const subJsonSettings = {
  subJsonEnable: setting(bool(), false, 'serve subscriptions as JSON documents of the core, too'),
  jsonPath: setting(urlPath().min(2).max(255), randomPath, 'path prefix of JSON documents', {
    alias: 'subJsonPath',
  }),
  subJsonURI: setting(
    publicUrl(),
    '',
    'URL of JSON documents as users reach it, before the id; empty: it follows from subURI',
  ),
  subJsonAlwaysArray: setting(bool(), false, 'send a list of documents even where there is one'),
  subJsonMux: setting(
    checkedText(readMux),
    '',
    'JSON: multiplexing of all entries whose host says nothing else, like {"concurrency": 8}',
  ),
  subJsonFinalMask: setting(
    checkedText(readMasks),
    '',
    'JSON: masks of all entries, such as fragment and noise, after their own',
  ),
  subJsonRules: setting(
    checkedText(readRules),
    '',
    'JSON: list of routing rules, before the one that sends everything to the entry',
  ),
  subJsonRoutingRules: setting(
    checkedText(readProfile, 1024 * 1024),
    '',
    'a routing profile as JSON or as its deep link; its rules and name servers take the place of subJsonRules',
  ),
  subJsonDns: setting(
    checkedText(readDns),
    '',
    'JSON: name servers as a list, or the whole dns object of the core',
  ),
  subJsonObservatory: setting(
    checkedText(readObservatory),
    '',
    'JSON: how the documents of balancers measure their entries, like {"interval": "30s"}',
  ),
} as const;
