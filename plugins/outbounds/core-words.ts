// Finds in the log of a test core why an outbound did not serve.

/** `2026/11/23 08:58:58.528892 [Info] [3965627645] app/dispatcher: taking detour [o0] for [tcp:…]` */
const LINE = /\[(?:Info|Warning|Error)\] \[(\d+)\] (.+)$/;
const DETOUR = /taking detour \[([^\]]+)\]/;
const FAILURE = /failed to|refused|rejected|invalid|timeout/;
const LONGEST = 300;

/** Says only that each of several attempts failed; the link before it lists why, in brackets. */
const SUMMARY = 'all retry attempts failed';

/** The last link of `A > B > C` says why; those before it only which function failed. */
function lastCause(chain: string): string {
  const links = chain.split(' > ').map((link) => link.replace(/^[a-z0-9_/]+: /, ''));
  const last = links.findLast((link) => link !== SUMMARY) ?? SUMMARY;
  const [only = ''] = /^\[(.*)\]$/.exec(last)?.slice(1) ?? [last];
  return only.slice(0, LONGEST);
}

/** Returns the last failure of each outbound, by its tag in the core. */
export function failuresIn(output: string): ReadonlyMap<string, string> {
  const outbounds = new Map<string, string>();
  const failures = new Map<string, string>();
  for (const line of output.split('\n')) {
    const [, session = '', words = ''] = LINE.exec(line) ?? [];
    if (session === '') continue;
    const detour = DETOUR.exec(words)?.[1];
    const outbound = outbounds.get(session);
    if (detour !== undefined) outbounds.set(session, detour);
    else if (outbound !== undefined && FAILURE.test(words) && !words.startsWith('proxy/http: '))
      failures.set(outbound, lastCause(words));
  }
  return failures;
}
