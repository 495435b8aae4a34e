// The links that import a subscription: each in the words of its program.
import test from 'ava';
import { importsOn, SYSTEMS } from '../programs.js';
import { sampleView, URL_OF_ADA } from './sample-view.js';

const title = 'Ада & Co';
const encodedTitle = '%D0%90%D0%B4%D0%B0%20%26%20Co';
const { urls } = sampleView();
const of = encodeURIComponent;
const everywhere = Object.fromEntries(
  SYSTEMS.flatMap((system) => importsOn(system, urls, title).map(({ name, link }) => [name, link])),
);
const other = (path: string) => of(URL_OF_ADA.replace('kqzpvbxw', path));

test('each program gets the address of the format that it reads, as it wants it', (t) => {
  t.deepEqual(everywhere, {
    Hiddify: `hiddify://import/${URL_OF_ADA}#${encodedTitle}`,
    v2rayNG: `v2rayng://install-sub?url=${of(URL_OF_ADA)}#${encodedTitle}`,
    Happ: `happ://add/${URL_OF_ADA}`,
    INCY: `incy://add/${URL_OF_ADA}`,
    v2RayTun: `v2raytun://import/${URL_OF_ADA}`,
    NekoBox: `sn://subscription?url=${of(URL_OF_ADA)}&name=${encodedTitle}`,
    Streisand: `streisand://import/${URL_OF_ADA}#${encodedTitle}`,
    Shadowrocket: `shadowrocket://add/sub://${Buffer.from(URL_OF_ADA).toString('base64url')}?remark=${encodedTitle}`,
    V2Box: `v2box://install-sub?url=${of(URL_OF_ADA)}&name=${encodedTitle}`,
    Karing: `karing://install-config?url=${of(URL_OF_ADA)}&name=${encodedTitle}`,
    'Clash Meta, FlClash': `clash://install-config?url=${other('altpath')}&name=${encodedTitle}`,
    'Clash Verge, FlClash': `clash://install-config?url=${other('altpath')}&name=${encodedTitle}`,
    Stash: `stash://install-config?url=${other('altpath')}&name=${encodedTitle}`,
    'sing-box': `sing-box://import-remote-profile?url=${other('boxpath')}#${encodedTitle}`,
  });
});

test('every system has programs, and none for a format that is not served', (t) => {
  const standard = urls.filter(({ format }) => format === 'links');
  for (const system of SYSTEMS) {
    t.true(importsOn(system, standard, title).length >= 2, system);
    t.false(importsOn(system, standard, title).some(({ name }) => /Clash|Stash|sing-box/.test(name)));
    t.deepEqual(importsOn(system, [], title), []);
  }
  t.false(importsOn('Linux', urls, title).some(({ name }) => name === 'Shadowrocket'));
});
