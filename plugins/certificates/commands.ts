import { command, type Command, int, type Principal } from '../../kernel/index.js';
import type { CertificateService } from './certificate-service.js';

const lineOf = ({
  id,
  names,
  state,
  validTo,
  lastError,
}: ReturnType<CertificateService['list']>[number]): string =>
  [id, names.join(','), state, validTo === '' ? '-' : validTo.slice(0, 10), lastError].join('  ').trimEnd();

export const commands = ({ service, self }: { service: CertificateService; self: Principal }): Command[] => [
  command({
    name: 'certificates',
    about:
      'Lists the certificates that an authority issues for this panel: id, names, state, end, last error.',
    options: {},
    example: 'weir certificates',
    run: ({ say }) => {
      const all = service.list();
      if (all.length === 0) say('there are no certificates');
      for (const one of all) say(lineOf(one));
    },
  }),
  command({
    name: 'certificates issue',
    about: 'Orders a certificate now and waits for it. If that fails, the present one stays in use.',
    options: { id: int().min(1).description('id of the certificate, as `weir certificates` lists it') },
    example: 'weir certificates issue --id 1',
    run: async ({ options: { id }, say }) => {
      const { certificate, note } = await service.issue(id, self);
      say(lineOf(service.shown(certificate)));
      if (note !== '') say(note);
    },
  }),
];
