"""Resources of the account that are taken into the stack instead of being made."""

import pulumi


def take_in(imports: dict[str, str]) -> None:
    """Have the engine take over what the account holds already.

    Args:
        imports: name of a resource in the program -> its id in the account.
    """

    def transform(args: pulumi.ResourceTransformationArgs) -> pulumi.ResourceTransformationResult | None:
        found = imports.get(args.name)
        if found is None:
            return None
        opts = pulumi.ResourceOptions.merge(args.opts, pulumi.ResourceOptions(import_=found))
        return pulumi.ResourceTransformationResult(props=args.props, opts=opts)

    pulumi.runtime.register_stack_transformation(transform)
