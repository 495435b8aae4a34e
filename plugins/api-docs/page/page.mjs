// Shows the document of this panel in Swagger UI, after a login where there is no session.
const base = new URL('../../../', location.href);
const byId = (id) => document.getElementById(id);
const call = (path, init) => fetch(new URL(path, base), { credentials: 'same-origin', ...init });

function report(text) {
  const problem = byId('problem');
  problem.textContent = text;
  problem.hidden = text === '';
}

/** Reads a reply in its envelope; throws with the words of the panel. */
async function objOf(response) {
  const { msg, obj } = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(msg || `the panel answered ${response.status}`);
  return obj;
}

const csrfToken = async () => objOf(await call('csrf-token'));
const post = async (path, body = {}) =>
  objOf(
    await call(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-csrf-token': await csrfToken() },
      body: JSON.stringify(body),
    }),
  );

/** A session needs the token for every call but GET. A call with an API token needs neither, and nothing leaves this panel. */
async function intercept(request) {
  const url = new URL(request.url, location.href);
  if (url.origin !== base.origin || !url.pathname.startsWith(base.pathname))
    throw new Error(`${url} is not an address of this panel`);
  const { Authorization: authorization } = request.headers;
  if (authorization) request.credentials = 'omit';
  else if (request.method !== 'GET') request.headers['X-CSRF-Token'] = await csrfToken();
  return request;
}

/** The browser sends the cookie of the session by itself, and `intercept` the CSRF token: only an API token can be entered. */
function forPeople(document) {
  const { bearer } = document.components.securitySchemes;
  document.components.securitySchemes = { bearer };
  for (const operations of Object.values(document.paths))
    for (const operation of Object.values(operations))
      operation.security = operation.security?.some((one) => one.bearer) ? [{ bearer: [] }] : [];
  // As the browser reached it, also behind a proxy that changes paths.
  document.servers = [{ url: base.href.replace(/\/$/, '') }];
  return document;
}

function show(document) {
  byId('login').hidden = true;
  byId('logout').hidden = false;
  globalThis.SwaggerUIBundle({
    spec: forPeople(document),
    domNode: byId('api'),
    docExpansion: 'none',
    deepLinking: true,
    filter: true,
    // Elsewhere it would send the document to a validator of its publisher.
    validatorUrl: null,
    requestInterceptor: intercept,
    onComplete: () => {
      byId('api').dataset.state = 'complete';
    },
  });
}

async function open() {
  const response = await call('panel/api/openapi.json?raw=1');
  if (response.status === 401) {
    byId('login').hidden = false;
    return;
  }
  if (response.ok) show(await response.json());
  else await objOf(response);
}

/** Runs the step of a form, once at a time. */
function onSubmit(form, step) {
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const button = form.querySelector('button');
    button.disabled = true;
    report('');
    step()
      .catch((error) => report(error.message))
      .finally(() => {
        button.disabled = false;
      });
  });
}

onSubmit(byId('login'), async () => {
  const { username, password, twoFactorCode } = Object.fromEntries(new FormData(byId('login')));
  await post('login', { username, password, ...(twoFactorCode && { twoFactorCode }) });
  byId('login').reset();
  await open();
});
onSubmit(byId('logout'), async () => {
  await post('logout');
  location.reload();
});
await open().catch((error) => report(error.message));
