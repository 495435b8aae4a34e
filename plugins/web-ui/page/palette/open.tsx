// Ctrl-K, and Cmd-K on a Mac, opens the palette from everywhere; what it is made of is loaded then.
import { type ComponentType, useEffect, useState } from 'react';
import { spoken } from '../language/context.js';
import { notifyTrouble } from '../parts/notices.js';
import type { PaletteProps } from './palette.js';

const load = async () => (await Promise.all([import('./palette.js'), spoken.whole()]))[0].Palette;

export function PaletteKey({ showKeys }: { showKeys: () => void }) {
  const [isOpen, setOpen] = useState(false);
  const [Palette, setPalette] = useState<ComponentType<PaletteProps>>();
  useEffect(() => {
    const listen = (event: KeyboardEvent): void => {
      // Loaded with the first of the two keys, so that what is typed after them is not lost.
      if (event.key === 'Control' || event.key === 'Meta') load().catch(() => undefined);
      const isKey = event.key.toLowerCase() === 'k' || event.code === 'KeyK';
      if (!isKey || event.altKey || event.shiftKey || event.ctrlKey === event.metaKey) return;
      event.preventDefault();
      setOpen((now) => !now);
      // Not by `lazy`: what failed once, such as while the panel restarts, would fail ever after, and with it the page.
      load().then(
        (loaded) => setPalette(() => loaded),
        (error: unknown) => {
          setOpen(false);
          notifyTrouble(error);
        },
      );
    };
    addEventListener('keydown', listen);
    return () => removeEventListener('keydown', listen);
  }, []);
  if (!isOpen || !Palette) return null;
  return <Palette close={() => setOpen(false)} showKeys={showKeys} />;
}
