import Joi from 'joi';
import { custom, describedAs, hostName, list, text } from '../../kernel/index.js';

const MOST = 100;

function hostsOf(value: unknown): string[] {
  const listed: unknown[] =
    typeof value === 'string' ? value.split(',').filter((entry) => entry.trim() !== '') : [value].flat();
  if (listed.length > MOST) throw new Error(`it holds more than ${MOST} hosts`);
  const hosts = listed.map((entry) => {
    const host = typeof entry === 'string' ? hostName(entry.trim()) : undefined;
    if (host === undefined)
      throw new Error(
        `${JSON.stringify(entry)?.slice(0, 300)} is neither a host name nor an address; write it without scheme, port and path`,
      );
    return host;
  });
  return [...new Set(hosts)];
}

/** Host names and addresses in their canonical spelling, as a list or as one text with commas. */
export const hostList = () =>
  custom<readonly string[]>(
    describedAs(
      Joi.any(),
      custom(Joi.alternatives(list(text()), text().description('the same with commas'))),
    ).custom(hostsOf),
  );
