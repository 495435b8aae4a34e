// Ctrl-K, and Cmd-K on a Mac, opens the palette from everywhere; what it is made of is loaded then.
import { lazy, Suspense, useEffect, useState } from 'react';
import { spoken } from '../language/context.js';

const load = async () => (await Promise.all([import('./palette.js'), spoken.whole()]))[0];
const Palette = lazy(async () => ({ default: (await load()).Palette }));

export function PaletteKey({ showKeys }: { showKeys: () => void }) {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    const listen = (event: KeyboardEvent): void => {
      // Loaded with the first of the two keys, so that what is typed after them is not lost.
      if (event.key === 'Control' || event.key === 'Meta') load().catch(() => undefined);
      const isKey = event.key.toLowerCase() === 'k' || event.code === 'KeyK';
      if (!isKey || event.altKey || event.shiftKey || event.ctrlKey === event.metaKey) return;
      event.preventDefault();
      setOpen((now) => !now);
    };
    addEventListener('keydown', listen);
    return () => removeEventListener('keydown', listen);
  }, []);
  if (!isOpen) return null;
  return (
    <Suspense>
      <Palette close={() => setOpen(false)} showKeys={showKeys} />
    </Suspense>
  );
}
