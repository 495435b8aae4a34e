// YAML of mihomo: proxies, groups and rules in one file.
import { contribute, definePlugin, maybe } from '../../kernel/index.js';
import { isRemote, RemoteTexts, RemoteTextSources, textOf } from '../remote-texts/contract.js';
import { Formats, type ListFormat } from '../subscription/contract.js';
import { legacyFormat } from './legacy-format.js';
import { cannotProxy } from './proxy/cannot.js';
import { compileProxy } from './proxy/proxy.js';
import { altSettings, LONGEST_TEMPLATE } from './settings.js';
import { apart } from './template/names.js';
import { PLAIN, readRemote, readTemplate, type Template } from './template/template.js';
import { chosen } from './template/chosen.js';
import { flow, quoted } from './yaml-text.js';

const SETTING = 'subAltRules';

type ServedFormat = ListFormat & { publicUrl(): string; readonly fileName: string };

export default definePlugin({
  name: 'sub-alt',
  version: '0.1.0',
  api: 1,
  about: 'Subscriptions as YAML of mihomo.',
  uses: { remote: maybe(RemoteTexts) },
  settings: altSettings,
  contributes({ settings, remote }) {
    let last: { readonly of: string; readonly text: string; readonly template: Template } | undefined;
    const template = (): Template => {
      const { subAltEnableRouting, subAltRules } = settings.read();
      if (!subAltEnableRouting) return PLAIN;
      const text = textOf(remote, SETTING, subAltRules);
      if (last?.of === subAltRules && last.text === text) return last.template;
      const read = isRemote(subAltRules) ? readRemote(text) : readTemplate(text);
      // It has been checked when it was saved or fetched.
      last = { of: subAltRules, text, template: typeof read === 'string' ? PLAIN : read };
      return last.template;
    };
    const nameOf = (name: string): string => apart(name, template().taken);
    const format: ServedFormat = {
      name: 'alt',
      contentType: 'text/yaml; charset=utf-8',
      prefix: () => (settings.read().subAltEnable ? settings.read().altFormatPath : undefined),
      aliases: () => (settings.read().subAltFixedPaths ? ['/mihomo/'] : []),
      pathSetting: 'altFormatPath',
      publicUrl: () => settings.read().subAltURI,
      fileName: 'subscription.yaml',
      uniqueNames: true,
      cannot: cannotProxy,
      compile: (entry) => compileProxy(entry, nameOf),
      note: (name) => flow({ name: nameOf(name), type: 'socks5', server: '127.0.0.1', port: 1 }),
      body(proxies, written) {
        const { taken, write } = template();
        return write(
          proxies,
          chosen(written).map((name) => quoted(apart(name, taken))),
        );
      },
    };
    const isOn = () => settings.read().subAltEnable && settings.read().subAltFixedPaths;
    return [
      contribute(Formats, format),
      contribute(Formats, legacyFormat(format, isOn)),
      contribute(RemoteTextSources, {
        setting: SETTING,
        value: () => settings.read()[SETTING],
        maxBytes: LONGEST_TEMPLATE,
        check: (text) => {
          const read = readRemote(text);
          if (typeof read === 'string') throw new Error(read);
        },
      }),
    ];
  },
});
