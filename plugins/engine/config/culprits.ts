// Finds the plugins whose parts the core rejects, with few test runs: all are left out, then added again in halves.

/** Each takes about 100 ms. */
const MOST_TESTS = 40;
const UNTRIED = `not tested: the core rejected too many parts, or takes too long for ${MOST_TESTS} test runs`;

/**
 * Resolves with the plugins to leave out, and the core's reasons; undefined when it rejects the config without any of
 * them too. `rejection` is the core's reason for all together; `test` returns its reason for these alone, or nothing when
 * it accepts them.
 */
export async function findCulprits(
  plugins: readonly string[],
  rejection: string,
  test: (kept: readonly string[]) => Promise<string | undefined>,
  longestMs = Infinity,
): Promise<ReadonlyMap<string, string> | undefined> {
  if (plugins.length === 0 || (await test([])) !== undefined) return undefined;
  const kept: string[] = [];
  const culprits = new Map<string, string>();
  const end = performance.now() + longestMs;
  let left = MOST_TESTS;
  const addBack = async (group: readonly string[], known?: string): Promise<void> => {
    const reason =
      known ?? (left-- > 0 && performance.now() < end ? await test([...kept, ...group]) : UNTRIED);
    if (reason === undefined) kept.push(...group);
    else if (group.length === 1) culprits.set(String(group[0]), reason);
    else {
      const half = Math.ceil(group.length / 2);
      await addBack(group.slice(0, half));
      await addBack(group.slice(half));
    }
  };
  await addBack(plugins, rejection);
  return culprits;
}
