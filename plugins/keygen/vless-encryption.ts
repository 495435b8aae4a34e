// Pairs of `decryption` and `encryption` of VLESS. Source: XTLS/Xray-core pull request 5067.
import { newX25519 } from './contract.js';
import { newMlkem768 } from './post-quantum.js';

/** `native` sends the bytes as they are, `xorpub` hides public keys, `random` hides all that could be recognised. */
const MODES = ['native', 'xorpub', 'random'] as const;
type Mode = (typeof MODES)[number];

interface Authentication {
  readonly key: string;
  readonly label: string;
  /** how long a ticket of the server allows a client to begin without a round trip */
  readonly server: string;
  readonly client: string;
}

const textOf = (mode: Mode, time: string, key: string): string => `mlkem768x25519plus.${mode}.${time}.${key}`;

/** For each kind of authentication one pair of keys, and of each all modes. */
export async function newVlessEncryption() {
  const [x25519, mlkem768] = [newX25519(), await newMlkem768()];
  const kinds: readonly Authentication[] = [
    {
      key: 'x25519',
      label: 'X25519, not Post-Quantum',
      server: x25519.privateKey,
      client: x25519.publicKey,
    },
    { key: 'mlkem768', label: 'ML-KEM-768, Post-Quantum', server: mlkem768.seed, client: mlkem768.client },
  ];
  const withMode = ({ key, label, server, client }: Authentication, mode: Mode) => ({
    key: mode === 'native' ? key : `${key}_${mode}`,
    label: mode === 'native' ? label : `${label} (${mode})`,
    decryption: textOf(mode, '600s', server),
    encryption: textOf(mode, '0rtt', client),
  });
  const [plain, ...hiding] = MODES;
  const all = [
    ...kinds.map((kind) => withMode(kind, plain)),
    ...kinds.flatMap((kind) => hiding.map((mode) => withMode(kind, mode))),
  ];
  return { auths: all.map((auth, i) => ({ id: i + 1, ...auth })) };
}
