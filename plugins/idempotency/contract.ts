// The errors of calls with an Idempotency-Key, for descriptions of routes that take one.
export { errors as idempotencyErrors } from './errors.js';
