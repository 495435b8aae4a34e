import { contribute, definePlugin, provide, singleton } from '../../kernel/index.js';
import { amneziawg } from './amneziawg.js';
import { LinkReader, SchemeReaders } from './contract.js';
import { hysteria } from './hysteria.js';
import { http, socks } from './logins.js';
import { mtproto } from './mtproto.js';
import { LinkReaderService } from './service.js';
import { shadowsocks } from './shadowsocks.js';
import { trojan } from './trojan.js';
import { tuic } from './tuic.js';
import { vless } from './vless.js';
import { vmess } from './vmess.js';
import { wireguard } from './wireguard.js';

const READERS = [
  vless,
  vmess,
  trojan,
  shadowsocks,
  hysteria,
  tuic,
  wireguard,
  amneziawg,
  mtproto,
  http,
  socks,
];

export default definePlugin({
  name: 'link-reader',
  version: '0.1.0',
  api: 1,
  about: 'Reads share links: from the text of a link to the entry of a proxy.',
  services: { reader: singleton(LinkReaderService) },
  provides: ({ reader }) => [provide(LinkReader, reader)],
  contributes: () => READERS.map((reader) => contribute(SchemeReaders, reader)),
});
