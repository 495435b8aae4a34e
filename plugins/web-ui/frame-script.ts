// The frame's side of the bridge, as a script that pages of plugins load. A classic script: a frame without an origin loads no modules.
export const FRAME_SCRIPT = `// The bridge between the page of a plugin and the web page of Weir.
'use strict';
const weirPage = (() => {
  const { port1: port, port2 } = new MessageChannel();
  const waiting = new Map();
  const listeners = new Set();
  let last = 0;
  let context;
  port.onmessage = ({ data }) => {
    if (data.kind === 'context') {
      context = data;
      document.documentElement.lang = data.language;
      document.documentElement.dir = data.dir;
      document.documentElement.dataset.theme = data.theme;
      document.documentElement.style.colorScheme = data.theme;
      for (const [name, value] of Object.entries(data.colors))
        document.documentElement.style.setProperty('--' + name, value);
      for (const listener of listeners) listener(context);
    } else if (data.kind === 'answer') {
      const call = waiting.get(data.id);
      waiting.delete(data.id);
      if (call === undefined) return;
      if (data.error === undefined) call.resolve(data.body);
      else call.reject(Object.assign(new Error(data.error), { status: data.status }));
    }
  };
  parent.postMessage({ kind: 'hello' }, '*', [port2]);
  return Object.freeze({
    /** Calls \`listener\` with { theme, language, dir, colors }, now and after each change. */
    onContext(listener) {
      listeners.add(listener);
      if (context !== undefined) listener(context);
    },
    /** Resolves with the JSON that the API answers; rejects with an Error that has a \`status\`. */
    call(method, path, body) {
      const id = ++last;
      return new Promise((resolve, reject) => {
        // As text: an object of a few bytes may be a text of gigabytes, and the page must not be the one to find out.
        const text = JSON.stringify(body);
        waiting.set(id, { resolve, reject });
        port.postMessage({ kind: 'call', id, method, path, body: text });
      });
    },
    /** The height of the frame, in CSS pixels. */
    height(pixels) {
      port.postMessage({ kind: 'height', pixels });
    },
    /** What stands above the frame, after the title of the page. */
    title(text) {
      port.postMessage({ kind: 'title', text });
    },
  });
})();
`;
