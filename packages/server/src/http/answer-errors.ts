import { ERRORS, type ErrorCode } from '@strongroom/contract'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import { ApiError } from '../errors.ts'
import { SECURITY_HEADERS } from './security-headers.ts'

/** Fastify's own refusals, in the API's words. */
const FROM_FASTIFY: Readonly<Record<string, ErrorCode>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'payload_too_large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_media_type',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'bad_request',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'invalid_json',
  FST_ERR_MAX_PARAM_LENGTH: 'route_not_found',
  FST_ERR_BAD_URL: 'route_not_found',
  FST_ERR_ASYNC_CONSTRAINT: 'route_not_found',
  // Only for methods that are none of HTTP, such as DESCRIBE.
  FST_ERR_NOT_FOUND: 'bad_request',
}

/** No place to write: read-only, no room, no memory, a fault of the disk, as PostgreSQL and the file system say it. No bug, and it passes. */
const OUT_OF_ORDER = /^(?:25006|53[0-9A-Z]{3}|58030|ENOSPC|EDQUOT|EROFS|EIO)$/

export function errorBody(
  code: ErrorCode,
  requestId: string,
  options: { message?: string; details?: unknown } = {},
): object {
  const { message, hint } = ERRORS[code]
  return {
    error: {
      code,
      message: options.message ?? message,
      requestId,
      ...(options.details !== undefined && { details: options.details }),
      hint,
      docs: `/docs/errors#${code}`,
    },
  }
}

/** The code an error is answered with. */
export function codeOf(error: unknown): ErrorCode {
  if (error instanceof ApiError) return error.code
  const { code = '' } = error as { code?: string }
  return FROM_FASTIFY[code] ?? (OUT_OF_ORDER.test(code) ? 'not_ready' : 'internal_error')
}

/** Whoever sent the body left before its end, as they may: nobody hears the answer, and nothing failed here. */
const isAbandoned = (error: FastifyError, { raw }: FastifyRequest): boolean =>
  raw.errored === error || (error.code === 'ERR_STREAM_PREMATURE_CLOSE' && raw.destroyed && !raw.complete)

const routeOf = ({ method, routeOptions: { config, url } }: FastifyRequest): string =>
  `${method} ${config?.template ?? url ?? 'unmatched'}`

const LITTLE = 65_536

/** What the client still sends would have to be read to its end; beyond a little, the connection goes instead. */
export function closeIfUnread({ raw }: FastifyRequest, reply: FastifyReply): void {
  const { 'content-length': length = '0', 'transfer-encoding': coding } = raw.headers
  if (!raw.complete && (coding !== undefined || Number(length) > LITTLE)) reply.header('connection', 'close')
}

/**
 * Anything thrown becomes the one error body. What is not an `ApiError` is a bug, or a machine that is out of order: logged with its
 * cause, answered without it.
 */
export function answerErrors(log: Logger) {
  return (error: FastifyError, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const isGone = isAbandoned(error, request)
    const known = isGone ? 'bad_request' : FROM_FASTIFY[error.code]
    request.errorCode = known ?? codeOf(error)
    // An answer that cannot end has no line of its own.
    if (isGone) log.info({ event: 'request_abandoned', requestId: request.id, route: routeOf(request) })
    // What the router refuses has run no hook.
    reply.headers({ ...SECURITY_HEADERS, 'x-request-id': request.id })
    closeIfUnread(request, reply)
    if (error instanceof ApiError) {
      return reply
        .code(error.status)
        .headers(error.headers ?? {})
        .send(errorBody(error.code, request.id, { message: error.message, details: error.details }))
    }
    if (known) return reply.code(ERRORS[known].status).send(errorBody(known, request.id))
    const foreign = codeOf(error)
    // The message of a foreign error could quote input; the log keeps only the frames of a stack.
    log.error({ event: foreign, requestId: request.id, name: error.name, code: error.code, stack: error.stack })
    if (foreign === 'not_ready') reply.header('retry-after', '5')
    return reply.code(ERRORS[foreign].status).send(errorBody(foreign, request.id))
  }
}
