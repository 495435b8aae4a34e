// Reads the body that a route declares: JSON or a form, files, or nothing.
import { join } from 'node:path';
import type { Request, Response } from 'express';
import { RequestBody } from '../../net/body.js';
import { MultipartBody, multipartBytes } from '../../net/multipart.js';
import { MOST_SEPARATORS } from '../../schema/json.js';
import { kernelErrors } from '../errors/errors.js';
import { LARGE_BODY, PUBLIC_BODY, type Route } from './route.js';

/** Most separators (see JsonScan) in a body without a login: names, passwords and codes. */
const PUBLIC_SEPARATORS = 1000;
/** For routes that do not accept lists of thousands of objects. */
const USUAL_SEPARATORS = 20_000;

export function bodyOf({ auth, body, bodyLimit }: Route, request: Request, response: Response): RequestBody {
  const limit = body ? bodyLimit : PUBLIC_BODY;
  const usual = limit < LARGE_BODY ? USUAL_SEPARATORS : MOST_SEPARATORS;
  return new RequestBody(request, response, {
    limit,
    separators: auth === 'anyone' ? PUBLIC_SEPARATORS : usual,
    compressed: auth !== 'anyone',
    errors: kernelErrors,
  });
}

/** In the data folder, so that other users cannot read uploads. */
export const uploadsFolder = (dataDirectory: string): string => join(dataDirectory, 'uploads');

/** The files and texts of an upload; without a login all of it is as small as any other body. */
export function uploadOf(
  { auth, bodyLimit, files = {} }: Route,
  request: Request,
  response: Response,
  folder: string,
): MultipartBody {
  return new MultipartBody(request, response, {
    files,
    textBytes: bodyLimit,
    limit: auth === 'anyone' ? PUBLIC_BODY : multipartBytes(files, bodyLimit),
    folder,
    errors: kernelErrors,
  });
}
