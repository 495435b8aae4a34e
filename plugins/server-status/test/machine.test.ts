import type { NetworkInterfaceInfo } from 'node:os';
import test from 'ava';
import { diskTotalsIn } from '../disk.js';
import { ratesBetween } from '../machine.js';
import { publicAddresses } from '../network.js';
import { processorsIn } from '../processors.js';

const processor = (physical: number, core: number) =>
  `processor\t: 0\ncpu MHz\t\t: 2596.120\nphysical id\t: ${physical}\ncore id\t\t: ${core}\n`;

test('counts physical cores: two sockets with two cores of two threads each', (t) => {
  const blocks = [0, 1].flatMap((socket) => [0, 1].flatMap((core) => [core, core].map((c) => [socket, c])));
  const text = blocks.map(([socket = 0, core = 0]) => processor(socket, core)).join('\n');
  t.deepEqual(processorsIn(text, 8), { cpuCores: 4, logicalPro: 8, cpuSpeedMhz: 2596.12 });
});

test('takes logical processors for cores where the system does not tell them apart', (t) => {
  t.like(processorsIn('processor\t: 0\nBogoMIPS\t: 50.00\n\nprocessor\t: 1\n', 2), { cpuCores: 2 });
});

test('counts the bytes of each disk once: neither partitions nor devices on top of it', (t) => {
  const line = (name: string) => `   8       0 ${name} 10 0 1000 5 20 0 3000 7 0 9 12`;
  const disks = ['sda', 'nvme0n1'];
  const others = ['sda1', 'nvme0n1p2', 'loop0', 'zram0', 'dm-0', 'md127', 'vda15', 'mmcblk0p1'];
  t.deepEqual(diskTotalsIn([...disks, ...others].map(line).join('\n')), {
    read: 2 * 1000 * 512,
    write: 2 * 3000 * 512,
  });
});

test('tells what moved a second, each figure by its own counter; a counter that fell moved nothing', (t) => {
  const before = {
    network: { sent: 1_000, recv: 20_000, pktSent: 30, pktRecv: 400 },
    disk: { read: 5_000, write: 60_000 },
    at: 7_000,
  };
  const now = {
    network: { sent: 3_000, recv: 26_000, pktSent: 38, pktRecv: 410 },
    disk: { read: 17_000, write: 74_000 },
    at: 9_000,
  };
  t.deepEqual(ratesBetween(before, now), {
    diskIO: { read: 6_000, write: 7_000 },
    netIO: { up: 1_000, down: 3_000, pktUp: 4, pktDown: 5 },
  });
  const nothing = { diskIO: { read: 0, write: 0 }, netIO: { up: 0, down: 0, pktUp: 0, pktDown: 0 } };
  t.deepEqual(ratesBetween(now, { ...before, at: 11_000 }), nothing);
  t.deepEqual(ratesBetween(now, now), nothing);
});

const address = (of: Partial<NetworkInterfaceInfo>) => ({ internal: false, ...of }) as NetworkInterfaceInfo;

test('shows public addresses of interfaces, and N/A behind NAT', (t) => {
  const lo = [address({ family: 'IPv4', address: '127.0.0.1', internal: true })];
  const eth0 = [
    address({ family: 'IPv4', address: '10.0.0.5' }),
    address({ family: 'IPv6', address: 'fe80::1' }),
  ];
  t.deepEqual(publicAddresses({ lo, eth0 }), { ipv4: 'N/A', ipv6: 'N/A' });
  const eth1 = [
    address({ family: 'IPv4', address: '8.8.4.4' }),
    address({ family: 'IPv6', address: '2a00:1450:4001:80e::200e' }),
  ];
  t.deepEqual(publicAddresses({ lo, eth0, eth1 }), { ipv4: '8.8.4.4', ipv6: '2a00:1450:4001:80e::200e' });
});
