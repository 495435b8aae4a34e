// Draws a bar for each client that moved bytes today.
const SVG = 'http://www.w3.org/2000/svg';
const plot = document.getElementById('plot');
const about = document.getElementById('about');

function draw({ day, top }) {
  const most = Math.max(1, ...top.map(({ up, down }) => up + down));
  plot.setAttribute('viewBox', `0 0 ${Math.max(1, top.length)} 1`);
  plot.setAttribute('preserveAspectRatio', 'none');
  plot.replaceChildren(
    ...top.map(({ up, down }, at) => {
      const bar = document.createElementNS(SVG, 'rect');
      const height = (up + down) / most;
      for (const [name, value] of Object.entries({ x: at + 0.1, y: 1 - height, width: 0.8, height }))
        bar.setAttribute(name, String(value));
      return bar;
    }),
  );
  about.textContent = `${day}: ${top.length} clients, at most ${most} bytes`;
}

async function show() {
  try {
    draw(await weirPage.call('GET', 'x/usage-by-day/top?limit=20').then(({ obj }) => obj));
  } catch (error) {
    about.textContent = error.message;
  }
  weirPage.height(document.documentElement.scrollHeight);
}

void show();
