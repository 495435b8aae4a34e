// The page is below /panel/x/acme-shelf/, its calls below /panel/api/x/acme-shelf/. The paths are relative, so they work under any base path.
const api = new URL('../../api/x/acme-shelf/files', import.meta.url);
const csrf = new URL('../../../csrf-token', import.meta.url);
const list = document.querySelector('ul');

async function show() {
  const { obj } = await (await fetch(api)).json();
  list.replaceChildren(
    ...obj.map((name) => {
      const link = document.createElement('a');
      link.href = `${api}/${encodeURIComponent(name)}`;
      link.textContent = name;
      const item = document.createElement('li');
      item.append(link);
      return item;
    }),
  );
}

document.querySelector('form').addEventListener('submit', async (event) => {
  event.preventDefault();
  const { obj: token } = await (await fetch(csrf)).json();
  const body = new FormData(event.target);
  const { success, msg } = await (
    await fetch(api, { method: 'POST', headers: { 'X-CSRF-Token': token }, body })
  ).json();
  if (!success) alert(msg);
  await show();
});

await show();
