import { bool, setting, urlPath, inSection } from '../../kernel/index.js';
import { orRemote } from '../remote-texts/contract.js';
import { checkedText, publicUrl, randomPath } from '../subscription/contract.js';
import { readDns } from './texts/dns.js';
import { readMasks } from './texts/masks.js';
import { readMux } from './texts/mux.js';
import { readObservatory } from './texts/observatory.js';
import { readProfile } from './texts/profile.js';
import { readRules } from './texts/rules.js';

const LONGEST = 256 * 1024;
const jsonText = (read: (text: string) => unknown) => checkedText(read, LONGEST);

export const LONGEST_PROFILE = 1024 * 1024;

export const subJsonSettings = inSection('JSON of the core', {
  subJsonEnable: setting(bool(), false, 'serve subscriptions as JSON documents of the core, too'),
  jsonPath: setting(urlPath().min(2).max(255), randomPath, 'path prefix of JSON documents', {
    when: { field: 'subJsonEnable' },
    level: 'advanced',
    alias: 'subJsonPath',
  }),
  subJsonURI: setting(
    publicUrl('https://sub.example.com/json/'),
    '',
    'URL of JSON documents as users reach it, before the id; empty: it follows from subURI',
    { when: { field: 'subJsonEnable' }, level: 'advanced' },
  ),
  subJsonAlwaysArray: setting(bool(), false, 'send a list of documents even where there is one', {
    when: { field: 'subJsonEnable' },
    level: 'advanced',
  }),
  subJsonMux: setting(
    jsonText(readMux),
    '',
    'JSON: multiplexing of all entries whose host says nothing else, like {"concurrency": 8}',
    { when: { field: 'subJsonEnable' }, level: 'advanced' },
  ),
  subJsonFinalMask: setting(
    jsonText(readMasks),
    '',
    'JSON: masks of all entries, such as fragment and noise, after their own',
    { when: { field: 'subJsonEnable' }, level: 'advanced' },
  ),
  subJsonRules: setting(
    jsonText(readRules),
    '',
    'JSON: list of routing rules, before the one that sends everything to the entry',
    { when: { field: 'subJsonEnable' }, level: 'advanced' },
  ),
  subJsonRoutingRules: setting(
    checkedText(orRemote(readProfile), LONGEST_PROFILE),
    '',
    'a routing profile as JSON, as its deep link or as its https URL; its rules and name servers take the place of subJsonRules',
    { when: { field: 'subJsonEnable' }, level: 'advanced' },
  ),
  subJsonDns: setting(
    jsonText(readDns),
    '',
    'JSON: name servers as a list, or the whole dns object of the core',
    { when: { field: 'subJsonEnable' }, level: 'advanced' },
  ),
  subJsonObservatory: setting(
    jsonText(readObservatory),
    '',
    'JSON: how the documents of balancers measure their entries, like {"interval": "30s"}',
    { when: { field: 'subJsonEnable' }, level: 'advanced' },
  ),
});
