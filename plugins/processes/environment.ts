// The environment of a process that the panel starts: a few harmless variables, and what its owner adds.

/** The panel's own variables, secrets among them, stay out. */
const PASSED_ON = ['PATH', 'HOME', 'LANG', 'TZ', 'TMPDIR', 'SSL_CERT_FILE', 'SSL_CERT_DIR'];

/** PATH, HOME, LANG, TZ, TMPDIR, SSL_CERT_FILE and SSL_CERT_DIR of the panel, those that are set, and further ones by name. */
export function minimalEnvironment(also: readonly string[] = []): Record<string, string> {
  const found = [...PASSED_ON, ...also].flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(found);
}
