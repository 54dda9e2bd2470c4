"""The lab's stand-in for Pulumi's AWS provider: it turns resources into calls of EC2, IAM and S3, and refuses the rest.

Owns: what the real provider does with each property, in tables with a source per row, and the calls per resource type.
Takes: gRPC requests of the Pulumi engine (PULUMI_DEBUG_PROVIDERS=aws:PORT) and an endpoint that answers AWS's API.
Gives: `python -m gpuprov.lab.aws.plugin LAB PORT ENDPOINT`, and `server.PluginServer` for tests.
Must not: keep anything between two requests but the provider's configuration; what exists is asked from the endpoint.
"""
