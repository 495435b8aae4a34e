// Routes of the machine, in the words of its kernel.
import test from 'ava';
import { routesV4, routesV6 } from '../machine-routes.js';

test('routes are read without default routes, and without those that are down', (t) => {
  const table = [
    'Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT',
    'ext\t00000000\t017100CB\t0003\t0\t0\t0\t00000000\t0\t0\t0',
    'lan\t0000320A\tFE4DA8C0\t0003\t0\t0\t0\t0000FFFF\t0\t0\t0',
    'awg1\t0001080A\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0',
    'old\t0002080A\t00000000\t0000\t0\t0\t0\t00FFFFFF\t0\t0\t0',
    'x y z',
    '',
  ].join('\n');
  t.deepEqual(routesV4(table), [
    { network: '10.50.0.0/16', interfaceName: 'lan' },
    { network: '10.8.1.0/24', interfaceName: 'awg1' },
  ]);
  const zero = '0'.repeat(32);
  const rest = `${zero} 00 ${zero} 00000400 00000001 00000000`;
  const v6 = [
    `fd000050${'0'.repeat(24)} 40 ${rest} 00000003      lan`,
    `fe80${'0'.repeat(28)} 40 ${rest} 00000001      lan`,
    `ff00${'0'.repeat(28)} 08 ${rest} 00000001      lan`,
    `${zero} 00 ${rest} 00000003      lan`,
    `fd000051${'0'.repeat(24)} 40 ${rest} 00000000      old`,
    '',
  ].join('\n');
  t.deepEqual(routesV6(v6), [{ network: 'fd00:50::/64', interfaceName: 'lan' }]);
  t.deepEqual([routesV4(''), routesV6('')], [[], []]);
});
