// Tells an author what to change when a plugin cannot be imported and Node's message does not say it.

/** Names in earlier releases. */
const RENAMED: Readonly<Record<string, string>> = {
  extend: 'contribute',
  Extended: 'Contributed',
  Extension: 'Contribution',
};

/** The end of a sentence about a failed import; empty where there is nothing to add. */
export function importHint(message: string): string {
  const [, missing = ''] = /does not provide an export named '(\w+)'/.exec(message) ?? [];
  const renamed = RENAMED[missing];
  if (renamed !== undefined) return ` (${missing} is called ${renamed} now)`;
  if (/Cannot find (?:package|module) 'weir['/]/.test(message))
    return ' (the package is called @weir-panel/weir)';
  if (/require is not defined|Cannot find module '@weir-panel\/weir/.test(message))
    return ' (plugins are ES modules: use `import`, and "type": "module" in package.json)';
  return '';
}
