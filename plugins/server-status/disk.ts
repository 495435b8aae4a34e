// How full the file system is, and what the disks have read and written.
import { statfs } from 'node:fs/promises';
import { readProc } from './read-proc.js';

export interface DiskTotals {
  readonly read: number;
  readonly write: number;
}

const SECTOR_BYTES = 512;
/** Partitions and stacked devices: their bytes are counted on the disk below them. Disks in memory are none. */
const NOT_COUNTED = /^(?:loop|ram|zram|dm-|md|sr|fd)|^(?:[shv]d|xvd)[a-z]+\d+$|^(?:nvme\d+n|mmcblk)\d+p\d+$/;

/** Sums the bytes of whole disks since the machine started. */
export function diskTotalsIn(diskstats: string): DiskTotals {
  let read = 0,
    write = 0;
  for (const line of diskstats.split('\n')) {
    const columns = line.trim().split(/\s+/);
    if (columns.length < 10 || NOT_COUNTED.test(columns[2] ?? '')) continue;
    read += Number(columns[5]) * SECTOR_BYTES;
    write += Number(columns[9]) * SECTOR_BYTES;
  }
  return { read, write };
}
export const diskTotals = async (): Promise<DiskTotals> => diskTotalsIn(await readProc('diskstats'));

export async function diskUse(): Promise<{ current: number; total: number }> {
  const disk = await statfs('/').catch(() => undefined);
  if (!disk) return { total: 0, current: 0 };
  return { total: disk.blocks * disk.bsize, current: (disk.blocks - disk.bfree) * disk.bsize };
}
