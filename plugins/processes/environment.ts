// The environment of a process that the panel starts: a few harmless variables, and what its owner adds.

/** The panel's other variables, which include secrets, are not passed on. */
const PASSED_ON = ['PATH', 'HOME', 'LANG', 'TZ', 'TMPDIR', 'SSL_CERT_FILE', 'SSL_CERT_DIR'];

/** Returns PATH, HOME, LANG, TZ, TMPDIR, SSL_CERT_FILE and SSL_CERT_DIR of the panel, if set, and further ones by name. */
export function minimalEnvironment(also: readonly string[] = []): Record<string, string> {
  const found = [...PASSED_ON, ...also].flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(found);
}
