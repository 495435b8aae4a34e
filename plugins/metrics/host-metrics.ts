// The machine, as server/status shows it.
import type { ServerStatusApi } from '../server-status/contract.js';
import type { Metric, Sample } from './contract.js';

type Status = Awaited<ReturnType<ServerStatusApi['status']>>;
type Values = (status: Status) => number | readonly (readonly [label: string, value: number])[];

export function hostMetrics(server: ServerStatusApi | undefined): Metric[] {
  if (!server) return [];
  const metric = (
    type: Metric['type'],
    name: string,
    help: string,
    values: Values,
    label?: string,
  ): Metric => ({
    name: `weir_host_${name}`,
    help,
    type,
    ...(label !== undefined && { labels: [label] }),
    collect: async (): Promise<Sample[]> => {
      const found = values(await server.status());
      if (typeof found === 'number') return [{ value: found }];
      return found.map(([of, value]) => ({ value, labels: { [label ?? '']: of } }));
    },
  });
  return [
    metric(
      'gauge',
      'cpu_usage_ratio',
      'Busy share of the processors, 0 to 1, smoothed.',
      ({ cpu }) => cpu / 100,
    ),
    metric('gauge', 'cpus', 'Logical processors.', ({ logicalPro }) => logicalPro),
    metric('gauge', 'memory_used_bytes', 'Used memory of the machine.', ({ mem }) => mem.current),
    metric('gauge', 'memory_size_bytes', 'Memory of the machine.', ({ mem }) => mem.total),
    metric('gauge', 'swap_used_bytes', 'Used swap of the machine.', ({ swap }) => swap.current),
    metric('gauge', 'swap_size_bytes', 'Swap of the machine.', ({ swap }) => swap.total),
    metric('gauge', 'disk_used_bytes', 'Used space of the file system at /.', ({ disk }) => disk.current),
    metric('gauge', 'disk_size_bytes', 'Size of the file system at /.', ({ disk }) => disk.total),
    metric(
      'gauge',
      'load',
      'Load averages.',
      ({ load }) => [
        ['1', load.load1],
        ['5', load.load5],
        ['15', load.load15],
      ],
      'minutes',
    ),
    metric(
      'gauge',
      'sockets',
      'Sockets of the machine.',
      ({ tcpCount, udpCount }) => [
        ['tcp', tcpCount],
        ['udp', udpCount],
      ],
      'protocol',
    ),
    metric(
      'counter',
      'network_bytes_total',
      'Bytes over external interfaces since the machine started.',
      ({ netTraffic }) => [
        ['up', netTraffic.sent],
        ['down', netTraffic.recv],
      ],
      'direction',
    ),
    metric(
      'counter',
      'disk_bytes_total',
      'Bytes of whole disks since the machine started.',
      ({ diskTraffic }) => [
        ['read', diskTraffic.read],
        ['write', diskTraffic.write],
      ],
      'operation',
    ),
    metric('gauge', 'uptime_seconds', 'Seconds since the machine started.', ({ uptime }) => uptime),
  ];
}
