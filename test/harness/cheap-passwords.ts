// Passwords of tests are hashed as the panel hashes them, at the least cost that argon2 knows: each boot hashes one and each
// login another, a third of the CPU time of both. Loaded before the panel, which has no switch for it.
import { createRequire } from 'node:module';

type Hash = (password: string, options: object) => Promise<string>;

const argon2 = createRequire(import.meta.url)('@node-rs/argon2') as { hash: Hash };
const { hash } = argon2;
argon2.hash = (password, options) => hash(password, { ...options, memoryCost: 8, timeCost: 1 });
