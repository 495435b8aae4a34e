// Tests that need a right or a program that this machine may lack.
import test, { type ExecutionContext } from 'ava';

export type Declare = (title: string, run: (t: ExecutionContext) => unknown) => void;

/**
 * `declare`, or, where `reason` says why it cannot run here, a declaration that skips the test and prints the reason. With
 * CI set such a test fails. Await the reason before the first test of the file is declared.
 */
export function testUnless(reason: string, declare: typeof test | typeof test.serial = test): Declare {
  if (reason === '') return (title, run) => declare(title, (t) => run(t) as Promise<void>);
  const name = (title: string): string => `${title} (left out: ${reason})`;
  if (process.env['CI'])
    return (title) =>
      test(name(title), (t) => t.fail('where CI is set, a test that is left out is a failure'));
  return (title, run) => test.skip(name(title), (t) => run(t) as Promise<void>);
}

/** `declare`, or, on another database than it is for, a declaration that skips the test and says where it runs. */
export function onlyOn(
  isHere: boolean,
  where: string,
  declare: typeof test | typeof test.serial = test,
): Declare {
  if (isHere) return (title, run) => declare(title, (t) => run(t) as Promise<void>);
  return (title, run) =>
    declare.skip(`${title} (left out: it runs on ${where})`, (t) => run(t) as Promise<void>);
}
