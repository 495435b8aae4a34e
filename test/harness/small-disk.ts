// A disk that a test can fill: a small file system in memory, which only root may mount.
import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';

const MIB = 1024 * 1024;

export class SmallDisk {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  /** Mounted until the test is over; undefined, with a printed reason, where that is not allowed. With CI set that fails the test. */
  static mount(t: ExecutionContext, mib: number): SmallDisk | undefined {
    const path = mkdtempSync(join(tmpdir(), 'weir-disk-'));
    const options = `size=${mib}m,mode=0700`;
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'weir-test', path], { stdio: 'pipe' });
    } catch (error) {
      rmSync(path, { recursive: true });
      const reason = `left out, for a file system cannot be mounted here: ${(error as Error).message.trim()}`;
      t.log(reason);
      if (process.env['CI']) t.fail(reason);
      else t.pass();
      return undefined;
    }
    t.teardown(() => {
      // Lazily: a core may still be about to end.
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
