// Rules of a document. Source: wiki.metacubex.one, rules.

/** All that mihomo knows; it refuses a file with another one. */
const KINDS = new Set([
  ...['DOMAIN', 'DOMAIN-SUFFIX', 'DOMAIN-KEYWORD', 'DOMAIN-WILDCARD', 'DOMAIN-REGEX', 'GEOSITE'],
  ...['IP-CIDR', 'IP-CIDR6', 'IP-SUFFIX', 'IP-ASN', 'GEOIP'],
  ...['SRC-GEOIP', 'SRC-IP-ASN', 'SRC-IP-CIDR', 'SRC-IP-SUFFIX', 'DST-PORT', 'SRC-PORT'],
  ...['IN-PORT', 'IN-TYPE', 'IN-USER', 'IN-NAME', 'REMATCH-NAME'],
  ...['PROCESS-PATH', 'PROCESS-PATH-WILDCARD', 'PROCESS-PATH-REGEX'],
  ...['PROCESS-NAME', 'PROCESS-NAME-WILDCARD', 'PROCESS-NAME-REGEX'],
  ...['UID', 'NETWORK', 'DSCP', 'RULE-SET', 'AND', 'OR', 'NOT', 'SUB-RULE', 'MATCH'],
]);
const FLAGS = ['no-resolve', 'src'];

/** At commas outside of parentheses. */
function fieldsOf(rule: string): string[] {
  const fields = [''];
  let depth = 0;
  for (const c of rule) {
    if (c === '(') depth++;
    if (c === ')') depth--;
    if (c === ',' && depth <= 0) fields.push('');
    else fields[fields.length - 1] += c;
  }
  return fields.map((field) => field.trim());
}

export interface Rule {
  readonly kind: string;
  readonly payload: string;
  /** a proxy or a group; of SUB-RULE, a list of rules */
  readonly target: string;
}
/** Returns a text that says what is wrong. */
export function readRule(text: string): Rule | string {
  const fields = fieldsOf(text);
  while (fields.length > 2 && FLAGS.includes(fields.at(-1) ?? '')) fields.pop();
  const [kind = '', payload = ''] = fields;
  if (!KINDS.has(kind))
    return `mihomo has no rule ${kind || '""'}; a rule looks like DOMAIN-SUFFIX,example.com,PROXY`;
  const target = fields.at(-1) ?? '';
  const least = kind === 'MATCH' ? 2 : 3;
  return fields.length < least || target === ''
    ? `${kind} needs ${kind === 'MATCH' ? 'a target' : 'a value and a target'}, as in ${kind === 'MATCH' ? 'MATCH,PROXY' : `${kind},example,PROXY`}`
    : { kind, payload, target };
}
