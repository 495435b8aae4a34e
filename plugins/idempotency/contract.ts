// What descriptions of routes that take an Idempotency-Key say: its errors, and what a key is.
export { errors as idempotencyErrors } from './errors.js';
export { LONGEST_KEY, PLAIN_KEY } from './key.js';
