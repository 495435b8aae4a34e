// Beside the certificates of TLS: chooses one that is on this machine.
import { useQuery } from '@tanstack/react-query';
import type { Values } from '../forms/schema.js';
import { useReader } from '../language/context.js';
import { Choice } from '../parts/choice.js';
import { certificateOf, withCertificate } from './certificate.js';
import { certificateFilesQuery } from './queries.js';

export function CertificateChoice({ values, change }: { values: Values; change: (values: Values) => void }) {
  const { say } = useReader();
  const files = useQuery(certificateFilesQuery).data ?? [];
  if (files.length === 0) return null;
  const current = certificateOf(values);
  const isOther = files.every(({ certificateFile }) => certificateFile !== current);
  return (
    <Choice
      label={say('inbounds.certificate')}
      value={isOther ? '' : current}
      options={[
        ...(isOther ? [{ value: '', text: say('inbounds.certificateOther') }] : []),
        ...files.map(({ names, certificateFile }) => ({
          value: certificateFile,
          text: names.length > 0 ? names.join(', ') : say('inbounds.certificatePanel'),
        })),
      ]}
      choose={(path) => {
        const file = files.find(({ certificateFile }) => certificateFile === path);
        if (file) change(withCertificate(values, file));
      }}
    />
  );
}
