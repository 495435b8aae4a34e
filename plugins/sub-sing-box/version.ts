// The versions of sing-box that read different documents.

/** Minor versions whose documents differ: new servers of DNS (1.12), names for ECH (1.13), gecko (1.14). */
export const MINORS = [11, 12, 13, 14] as const;
export type Minor = (typeof MINORS)[number];

/** Newer programs read this form too, and each older form says less. */
export const FOR_UNKNOWN: Minor = 12;

/** Programs of the project say `SFA/1.12.0 (1; sing-box 1.12.0; …)`, the program itself `sing-box 1.12.0`. Source: sing-box.sagernet.org, graphical clients. */
const AGENT = /\bsing-box[ /]v?1\.(\d{1,3})\b/i;

export function minorOf(agent: string): Minor {
  const [, text] = AGENT.exec(agent.slice(0, 512)) ?? [];
  if (text === undefined) return FOR_UNKNOWN;
  const minor = Number(text);
  return MINORS.findLast((one) => one <= minor) ?? MINORS[0];
}
