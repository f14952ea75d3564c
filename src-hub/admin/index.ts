export { createAdmin } from './admin.ts'
