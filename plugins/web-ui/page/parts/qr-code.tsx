// A QR code: dark on white in both themes, with its quiet zone. A press fills the screen with it.
import { useState } from 'react';
import { Button } from 'react-aria-components';
import { encode } from 'uqr';
import { useReader } from '../language/context.js';
import { MOST_QR_BYTES, qrPath } from './qr-path.js';
import { Sheet } from './sheet.js';

export function QrCode({ text, label }: { text: string; label: string }) {
  const { say } = useReader();
  const [isLarge, setLarge] = useState(false);
  const bytes = new TextEncoder().encode(text).length;
  if (bytes > MOST_QR_BYTES) return <p className="muted">{say('qr.tooLong')}</p>;
  const { size, data } = encode(text, { ecc: 'L', border: 4 });
  const code = (
    <svg viewBox={`0 0 ${size} ${size}`} shapeRendering="crispEdges" role="img" aria-label={label}>
      <rect width={size} height={size} fill="#fff" />
      <path d={qrPath(data)} fill="#000" />
    </svg>
  );
  return (
    <>
      <Button className="qr" aria-label={say('qr.enlarge', { what: label })} onPress={() => setLarge(true)}>
        {code}
      </Button>
      <Sheet title={label} isOpen={isLarge} close={() => setLarge(false)} size="screen">
        <div className="qr-large">{code}</div>
      </Sheet>
    </>
  );
}
