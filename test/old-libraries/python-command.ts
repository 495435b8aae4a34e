/** The Python with py3xui that `npm run test:full` has installed. */
export function pythonWithLibrary(env: NodeJS.ProcessEnv): string {
  const { WEIR_TEST_PY3XUI: command, WEIR_TEST_PY3XUI_MISSING: missing } = env;
  if (command) return command;
  throw new Error(missing || 'py3xui is missing; `npm run test:full` installs it');
}
