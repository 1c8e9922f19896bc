/** The OpenAPI document, as read by our own pages. */
import type { JsonSchema } from '@valibot/to-json-schema';
import type { DescribeRouteOptions } from 'hono-openapi';

export interface OpenApiDocument {
  readonly openapi: string;
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>;
  readonly webhooks: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, DocumentedSchema>> };
}

/** A schema in which no boolean stands for a schema: the document contains none. */
export interface DocumentedSchema
  extends Omit<JsonSchema, 'properties' | 'items' | 'allOf' | 'anyOf' | 'oneOf'> {
  readonly properties?: Readonly<Record<string, DocumentedSchema>>;
  readonly items?: DocumentedSchema;
  readonly allOf?: readonly DocumentedSchema[];
  readonly anyOf?: readonly DocumentedSchema[];
  readonly oneOf?: readonly DocumentedSchema[];
}

export interface DocumentedMedia {
  readonly schema?: DocumentedSchema | undefined;
  readonly example?: unknown;
  /** By name, if there are several. */
  readonly examples?: Readonly<Record<string, { readonly summary: string; readonly value: unknown }>>;
}

export interface DocumentedOperation
  extends Pick<DescribeRouteOptions, 'operationId' | 'summary' | 'description' | 'tags' | 'security'> {
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
    readonly description?: string;
    readonly schema?: DocumentedSchema;
    readonly example?: string | number | boolean;
  }[];
  readonly requestBody?: {
    readonly required?: boolean;
    readonly content: Readonly<Record<string, DocumentedMedia>>;
  };
  readonly responses?: Readonly<
    Record<
      string,
      {
        readonly description?: string;
        readonly content?: Readonly<Record<string, DocumentedMedia>>;
      }
    >
  >;
}
