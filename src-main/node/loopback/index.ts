export {
  checkRequest,
  hasBody,
  type HeaderFacts,
  isBearer,
  readHeaders,
  type Refusal,
  type RequestPolicy,
} from './request-checks.ts'
