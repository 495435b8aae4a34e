// A disk that a test can fill: a small file system in memory, which only root may mount.
import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';

const MIB = 1024 * 1024;

const mount = (path: string, mib: number): void =>
  void execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${mib}m,mode=0700`, 'weir-test', path], {
    stdio: 'pipe',
  });

export class SmallDisk {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  /** Why no disk can be mounted here; empty if one can. For `testUnless`. */
  static obstacle(): string {
    const path = mkdtempSync(join(tmpdir(), 'weir-disk-'));
    try {
      mount(path, 1);
      execFileSync('umount', [path]);
      return '';
    } catch (error) {
      return `a file system cannot be mounted: ${(error as Error).message.trim()}`;
    } finally {
      rmSync(path, { recursive: true, force: true });
    }
  }

  /** Mounted until the test is over. */
  static mount(t: ExecutionContext, mib: number): SmallDisk {
    const path = mkdtempSync(join(tmpdir(), 'weir-disk-'));
    mount(path, mib);
    t.teardown(() => {
      // Lazily: a core may still be exiting.
      execFileSync('umount', ['--lazy', path]);
      rmSync(path, { recursive: true });
    });
    return new SmallDisk(path);
  }

  get #ballast(): string {
    return join(this.path, 'ballast');
  }

  /** No byte goes in after this. */
  fill(): void {
    const file = openSync(this.#ballast, 'a');
    try {
      for (let size = MIB; size > 0; ) {
        try {
          writeSync(file, Buffer.alloc(size));
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
          size = Math.floor(size / 2);
        }
      }
    } finally {
      closeSync(file);
    }
  }

  /** Makes room again. */
  free(): void {
    rmSync(this.#ballast, { force: true });
  }
}
